#include "viz/model/step_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/model/history.h"
#include "viz/model/softmax_scene.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

std::string level_name(const Run& run, const Event& event, BufferId id) {
  return run.launches[static_cast<std::size_t>(event.launch)].buffers[static_cast<std::size_t>(id)].level == Level::sram
             ? "SRAM"
             : "registers";
}

std::string rows_of(int count) { return count == 1 ? "1 row" : fmt::format("{} rows", count); }

// How many rows' m a tile has raised, of those that had seen a key before.
std::string rises(const Run& run, std::int64_t k) {
  const Event& event = run.events[static_cast<std::size_t>(k)];
  const std::int64_t old = last_set(run, k, event.to);
  int risen = 0, first = 0;
  for (int row = event.rows.begin; row < event.rows.end; ++row) {
    const std::vector<float> before = row_after(run, old, event.to, row), after = row_after(run, k, event.to, row);
    if (before.empty() || after.empty()) return "Each row keeps the largest score that it has seen.";
    if (std::isinf(before.front()))
      ++first;
    else if (after.front() > before.front())
      ++risen;
  }
  if (first == event.rows.size()) return "First keys of these rows: m is their largest score in this tile.";
  if (risen == 0) return "No row finds a larger score here: m stays, and nothing will be rescaled.";
  return fmt::format("{} found a larger score than ever before: what they kept must be rescaled.",
                     risen == 1 ? "1 row has" : rows_of(risen) + " have");
}

std::string smallest_factor(const Run& run, std::int64_t k) {
  const Event& event = run.events[static_cast<std::size_t>(k)];
  const std::int64_t old = event.from[0] == no_buffer ? -1 : last_set(run, k, event.from[0]);
  float least = 2;
  int row_of_least = -1;
  for (int row = event.rows.begin; row < event.rows.end; ++row) {
    const std::vector<float> factor = row_after(run, k, event.to, row);
    const std::vector<float> m_old =
        old < 0 ? factor : row_after(run, last_set(run, old, event.from[0]), event.from[0], row);
    if (factor.empty() || m_old.empty() || std::isinf(m_old.front())) continue;
    if (factor.front() < least) {
      least = factor.front();
      row_of_least = row;
    }
  }
  if (row_of_least < 0) return "These rows had seen nothing yet: exp(−∞) = 0 forgets the empty start.";
  if (least >= 1) return "m has not moved, so every factor is 1.";
  const std::string label = query_label(run, row_of_least);
  return fmt::format("The smallest is {}, in row {}{}.", number(static_cast<double>(least)), row_of_least,
                     label.empty() ? "" : " “" + label + "”");
}

std::string what(const Run& run, const Event& event, const std::string& tile) {
  switch (event.op) {
    case Op::start: return "m = −∞, l = 0, O = 0";
    case Op::load: return "load " + tile;
    case Op::store: return "store " + tile;
    case Op::matmul: return is_scores(run, event.launch, event.to) ? "S = Q Kᵀ" : "O = O + P V";
    case Op::mask: return "mask S";
    case Op::scale: return "S = scale · S";
    case Op::running_max: return "m = max(m, S)";
    case Op::rescale_factor: return "r = exp(m_old − m)";
    case Op::exp: return "P = exp(S − m)";
    case Op::running_sum: return event.from[1] == no_buffer ? "l = l + Σ P" : "l = r · l + Σ P";
    case Op::rescale: return fmt::format("O = {} · O", buffer_name(run, event.launch, event.from[1]));
    case Op::normalise: return fmt::format("{0} = {0} / l", buffer_name(run, event.launch, event.to));
    case Op::log_sum_exp: return "LSE = m + ln l";
    case Op::dropout: return "dropout";
    case Op::reduce: return "add " + tile;
    case Op::row_dot: return "D = rowsum(dO ∘ O)";
    case Op::softmax_gradient: return "dS = P ∘ (dP − D)";
    case Op::convert:
      return fmt::format("{} {}", buffer_name(run, event.launch, event.from[0]),
                         level_name(run, event, event.to) == "SRAM" ? "to SRAM" : "packed for the tensor cores");
    case Op::merge: return fmt::format("{} of all warps", buffer_name(run, event.launch, event.to));
    case Op::transpose: return "Vᵀ";
    case Op::turn: return "wait for a turn";
    case Op::barrier: return "wait for the block";
  }
  return {};
}

std::string why(const Run& run, std::int64_t k, const std::string& tile) {
  const Event& event = run.events[static_cast<std::size_t>(k)];
  switch (event.op) {
    case Op::start: return fmt::format("Rows {} begin: they have seen no key yet.", rows_text(event.rows));
    case Op::load:
      return fmt::format("{} (rows {}) comes from HBM to {}: {}.", tile, rows_text(event.rows),
                         level_name(run, event, event.to), bytes_text(event.hbm));
    case Op::store:
      return fmt::format("{} (rows {}) goes from {} to HBM: {}.", tile, rows_text(event.rows),
                         level_name(run, event, event.from[0]), bytes_text(event.hbm));
    case Op::matmul:
      if (!is_scores(run, event.launch, event.to)) return "The weights of this tile pick their rows of V and join O.";
      return fmt::format("Each of {} meets {} keys: {} scores, in {}.", rows_of(event.rows.size()), event.cols.size(),
                         event.rows.size() * event.cols.size(), level_name(run, event, event.to));
    case Op::mask: return "A query may not see later keys: their scores become −∞.";
    case Op::scale: return "A pass of its own over S, for 1/√d.";
    case Op::running_max: return rises(run, k);
    case Op::rescale_factor: return smallest_factor(run, k);
    case Op::exp: return fmt::format("{} exponentials.", thousands(event.exponentials));
    case Op::running_sum:
      return event.from[1] == no_buffer ? "The weights of each row are summed."
                                        : "What l was is rescaled; the new weights join it.";
    case Op::rescale:
      return buffer_name(run, event.launch, event.from[1]) == "l"
                 ? "O was stored divided by l: back to the sum that it was."
                 : "O was summed with the old m; r corrects it exactly, as if m had always been the new one.";
    case Op::normalise: return "The division by l that makes the weights sum to 1.";
    case Op::log_sum_exp: return "One number per row, which the backward pass needs.";
    case Op::dropout: return "A mask of one byte for each weight.";
    case Op::reduce:
      return fmt::format("{} (rows {}) is added to what HBM holds: {}.", tile, rows_text(event.rows),
                         bytes_text(event.hbm));
    case Op::row_dot: return "A row's whole share in the gradient of softmax, as one number.";
    case Op::softmax_gradient: return "The gradient of softmax: what a weight would change, less what its row would.";
    case Op::convert: return "Packed to the element type, and in SRAM, where a product can read it transposed.";
    case Op::merge:
      return "Each warp has summed over its own keys: the sums meet in SRAM, where the block adds them up.";
    case Op::transpose: return "Tensor cores of 8 bits take V one way only: its tile is turned in SRAM.";
    case Op::turn: return "The products of the other warpgroups come first; their softmax then runs under these.";
    case Op::barrier: return "Every warpgroup of the block must be here before the next tile.";
  }
  return {};
}

}  // namespace

StepText step_text(const Run& run, const Outline& outline, std::int64_t step) {
  const TileSpan* tile = outline.at(step);
  if (!tile)
    return {"before the first tile", "Q, K and V are in HBM; nothing is on chip. Press Space, or → for one step."};
  const Event& event = run.events[static_cast<std::size_t>(step - 1)];
  const std::string name =
      event.tensor == Tensor::none ? std::string() : tile_name(event.tensor, event.rows, event.cols, run.tiling);
  std::string where = outline.phases[static_cast<std::size_t>(tile->phase)].name;
  const int in_phase =
      static_cast<int>(std::count_if(outline.tiles.begin(), outline.tiles.end(), [&](const TileSpan& other) {
        return other.phase == tile->phase && other.first < tile->first;
      }));
  return {fmt::format("{} · tile {} · {}", where, in_phase, what(run, event, name)), why(run, step - 1, name)};
}

}  // namespace fa::viz

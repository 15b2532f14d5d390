#include "viz/model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/model/history.h"
#include "viz/model/softmax_scene.h"
#include "viz/model/text.h"

namespace fa::viz {

namespace {

struct Rescaling {
  double m_old = 0, factor = 0;
};

// What event `k`, a rescale_factor, does to a row; nothing if the row had kept nothing.
std::optional<Rescaling> rescaling(const Run& run, std::int64_t k, int row) {
  const Event& event = run.events[static_cast<std::size_t>(k)];
  const BufferId m = event.from[0];
  const std::int64_t new_max = last_set(run, k, m);
  if (new_max < 0) return std::nullopt;
  const std::vector<float> before = row_after(run, last_set(run, new_max, m), m, row),
                           factor = row_after(run, k, event.to, row);
  if (before.empty() || factor.empty() || !std::isfinite(before.front())) return std::nullopt;
  return Rescaling{static_cast<double>(before.front()), static_cast<double>(factor.front())};
}

}  // namespace

Prediction prediction(const Run& run, const Outline& outline, std::int64_t step, std::optional<int> row) {
  Prediction result;
  const TileSpan* now = outline.at(step);
  const Head head = now ? now->head : 0;
  bool rescales = false;
  for (std::int64_t k = 0; k < outline.events(); ++k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    if (event.op != Op::rescale_factor || event.head != head) continue;
    rescales = true;
    if (k < step) continue;
    std::optional<Rescaling> found;
    const Rows rows = row ? Rows{std::max(*row, event.rows.begin), std::min(*row + 1, event.rows.end)} : event.rows;
    for (int candidate = rows.begin; candidate < rows.end; ++candidate) {
      const std::optional<Rescaling> one = rescaling(run, k, candidate);
      if (!one || (!row && one->factor >= 1) || (found && one->factor >= found->factor)) continue;
      found = one;
      result.row = candidate;
    }
    if (!found) continue;
    const SoftmaxScene scene = softmax_scene(run, outline, k + 1, result.row);
    result.m_old = found->m_old;
    result.factor = found->factor;
    result.tile_max = scene.tile_max.value_or(result.m_old);
    result.reveal = k + 1;
    result.asks = true;
    result.question =
        fmt::format("Row {}{}: the next tile's largest score is {}, m is {}. By what factor is O rescaled?", result.row,
                    scene.label.empty() ? "" : " “" + scene.label + "”", number(result.tile_max), number(result.m_old));
    return result;
  }
  result.question = !rescales
                        ? "This program sees every row whole, so it never rescales. Choose a FlashAttention program."
                        : "No rescaling is left for this row. Go back, or click another row of the grid.";
  return result;
}

bool is_right(const Prediction& prediction, double answer) {
  return std::fabs(answer - prediction.factor) <= 0.02 * std::max(1.0, std::fabs(prediction.factor));
}

}  // namespace fa::viz

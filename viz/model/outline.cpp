#include "viz/model/outline.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/model/history.h"

namespace fa::viz {
namespace {

// Has this event done something with a tile, so that the next load belongs to another one?
bool uses_tile(const Run& run, const Event& event) {
  if (event.op == Op::store || event.op == Op::matmul) return true;
  return event.op != Op::load && event.op != Op::start && is_scores(run, event.launch, event.to);
}

std::string phase_name(const Run& run, const TileSpan& tile, bool whole_launch, bool loops_over_keys) {
  const auto launches = static_cast<int>(run.launches.size());
  if (whole_launch) {
    const Launch& launch = run.launches[static_cast<std::size_t>(tile.launch)];
    return launches == 1 ? launch.name : fmt::format("{} of {}: {}", tile.launch + 1, launches, launch.name);
  }
  std::string name = loops_over_keys ? "K, V tile " + std::to_string(tile.cols.begin / run.tiling.rows_kv)
                                     : "block " + std::to_string(tile.rows.begin / std::max(1, run.tiling.rows_q));
  if (run.problem.heads_total() > 1) name = fmt::format("head {} {}", tile.head, name);
  if (launches > 1) name = fmt::format("{}: {}", tile.launch + 1, name);
  return name;
}

void name_phases(const Run& run, Outline& result) {
  std::vector<bool> long_blocks(run.launches.size()), wraps(run.launches.size());
  for (std::size_t t = 1; t < result.tiles.size(); ++t) {
    const TileSpan &a = result.tiles[t - 1], &b = result.tiles[t];
    if (a.launch != b.launch || a.block != b.block) continue;
    long_blocks[static_cast<std::size_t>(b.launch)] = true;
    if (b.rows.begin < a.rows.begin) wraps[static_cast<std::size_t>(b.launch)] = true;
  }
  for (std::size_t t = 0; t < result.tiles.size(); ++t) {
    TileSpan& tile = result.tiles[t];
    const TileSpan* before = t == 0 ? nullptr : &result.tiles[t - 1];
    const auto launch = static_cast<std::size_t>(tile.launch);
    const bool same_block = before && before->launch == tile.launch && before->block == tile.block;
    const bool starts = !before || before->launch != tile.launch || (long_blocks[launch] && !same_block) ||
                        (same_block && tile.rows.begin < before->rows.begin);
    if (starts) result.phases.push_back({tile.first, phase_name(run, tile, !long_blocks[launch], wraps[launch])});
    tile.phase = static_cast<int>(result.phases.size()) - 1;
  }
}

}  // namespace

Outline outline(const Run& run) {
  Outline result;
  bool used = false;
  for (std::size_t k = 0; k < run.events.size(); ++k) {
    const Event& event = run.events[k];
    const bool brings = event.op == Op::load || event.op == Op::start;
    const bool same_block =
        !result.tiles.empty() && result.tiles.back().launch == event.launch && result.tiles.back().block == event.block;
    if (!same_block || (brings && used)) {
      TileSpan tile;
      tile.first = static_cast<std::int64_t>(k);
      tile.launch = event.launch;
      tile.block = event.block;
      tile.head = event.head;
      result.tiles.push_back(tile);
      used = false;
    }
    TileSpan& tile = result.tiles.back();
    used = used || uses_tile(run, event);
    const bool scores = is_scores(run, event.launch, event.to);
    if (scores && tile.cols.empty()) {
      tile.rows = event.rows;
      tile.cols = event.cols;
    } else if (scores && tile.cols == event.cols) {
      // Two warpgroups share the tile: each has its own rows of it.
      tile.rows = {std::min(tile.rows.begin, event.rows.begin), std::max(tile.rows.end, event.rows.end)};
    } else if (tile.rows.empty() && event.op == Op::start) {
      tile.rows = event.rows;
    }
    tile.last = static_cast<std::int64_t>(k) + 1;
    result.tile_of.push_back(static_cast<int>(result.tiles.size()) - 1);
  }
  name_phases(run, result);
  return result;
}

std::int64_t moved(const Outline& outline, std::int64_t step, Stride unit, int count) {
  if (unit == Stride::step) return std::clamp<std::int64_t>(step + count, 0, outline.events());
  std::vector<std::int64_t> stops{0};
  if (unit == Stride::tile)
    for (const TileSpan& tile : outline.tiles) stops.push_back(tile.last);
  else
    for (const Phase& phase : outline.phases)
      if (phase.first > 0) stops.push_back(phase.first);
  if (stops.back() != outline.events()) stops.push_back(outline.events());
  for (; count > 0; --count) {
    const auto next = std::upper_bound(stops.begin(), stops.end(), step);
    step = next == stops.end() ? outline.events() : *next;
  }
  for (; count < 0; ++count) {
    const auto here = std::lower_bound(stops.begin(), stops.end(), step);
    step = here == stops.begin() ? 0 : *(here - 1);
  }
  return step;
}

}  // namespace fa::viz

#include "viz/model/timeline_scene.h"

#include <algorithm>
#include <cmath>

#include "viz/model/history.h"

namespace fa::viz {
namespace {

Tensor colour_of(const Run& run, const Event& event) {
  if (event.tensor != Tensor::none) return event.tensor;
  return tensor_of(run, event.launch, event.to);
}

void put_bars(TimelineScene& scene, const Run& run, int columns) {
  const std::int64_t width = std::max<std::int64_t>(1, ceil_div(scene.last - scene.first, std::max(1, columns)));
  for (std::int64_t column = scene.first; column < scene.last; column += width) {
    struct Kind {
      int count = 0;
      Tensor tensor = Tensor::none;
      bool store = false;
    } kinds[4];
    const std::int64_t end = std::min(column + width, scene.last);
    for (std::int64_t k = column; k < end; ++k) {
      const Event& event = run.events[static_cast<std::size_t>(k)];
      Kind& kind = kinds[static_cast<std::size_t>(lane_of(event.op))];
      if (kind.count++ == 0) {
        kind.tensor = colour_of(run, event);
        kind.store = event.op == Op::store;
      }
    }
    for (int lane = 0; lane < 4; ++lane) {
      const Kind& kind = kinds[lane];
      if (kind.count == 0) continue;
      scene.bars.push_back({static_cast<Lane>(lane), static_cast<double>(column), static_cast<double>(end), kind.tensor,
                            kind.store, static_cast<double>(kind.count) / static_cast<double>(end - column)});
    }
  }
}

// The smallest factor that O is multiplied by, over rows that have kept something; 1 if nothing is lost.
double factor_at(const Run& run, std::int64_t k) {
  const Event& event = run.events[static_cast<std::size_t>(k)];
  const std::int64_t set = last_set(run, k, event.from[1]);
  if (set < 0 || run.events[static_cast<std::size_t>(set)].op != Op::rescale_factor) return 1;
  double least = 1;
  for (float factor : run.values_of(run.events[static_cast<std::size_t>(set)]))
    if (factor > 0) least = std::min(least, static_cast<double>(factor));  // 0: the row had seen no key
  return least;
}

}  // namespace

Lane lane_of(Op op) {
  switch (op) {
    case Op::load:
    case Op::store: return Lane::copy;
    case Op::matmul: return Lane::tensor;
    case Op::exp:
    case Op::rescale_factor: return Lane::exp;
    default: return Lane::vector;
  }
}

TimelineScene timeline_scene(const Run& run, const Outline& outline, std::int64_t first, std::int64_t last,
                             int columns) {
  TimelineScene scene;
  scene.steps = outline.events();
  scene.first = std::clamp<std::int64_t>(first, 0, scene.steps);
  scene.last = std::clamp<std::int64_t>(last, scene.first, scene.steps);
  put_bars(scene, run, columns);
  for (std::int64_t k = scene.first; k < scene.last; ++k)
    if (run.events[static_cast<std::size_t>(k)].op == Op::rescale) {
      const double factor = factor_at(run, k);
      if (factor < 1) scene.rescales.push_back({k + 1, factor});
    }
  for (const Phase& phase : outline.phases)
    if (scene.first <= phase.first && phase.first < scene.last) scene.phases.push_back({phase.first, phase.name});
  return scene;
}

}  // namespace fa::viz

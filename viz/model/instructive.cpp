#include "viz/model/instructive.h"

#include <cmath>
#include <cstdlib>

#include "viz/model/history.h"

namespace fa::viz {
namespace {

// Best when about a third is kept: the change is plain, and what is kept can still be seen.
double distance(float factor) { return std::fabs(std::log(static_cast<double>(factor) / 0.3)); }

struct Found {
  Instructive place;
  double distance = 2.5;  // factors below 0.025 or so, and above 0.9, are not worth showing
};

Found best(const Run& run, const Outline& outline, std::optional<int> wanted) {
  Found found;
  for (std::int64_t k = 0; k < outline.events(); ++k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    if (event.op != Op::rescale) continue;
    const std::int64_t set = last_set(run, k, event.from[1]);
    if (set < 0 || run.events[static_cast<std::size_t>(set)].op != Op::rescale_factor) continue;
    for (int row = event.rows.begin; row < event.rows.end; ++row) {
      if (wanted && row != *wanted) continue;
      const std::vector<float> factor = row_after(run, set, event.from[1], row);
      if (factor.empty() || factor.front() <= 0 || factor.front() > 0.9f) continue;
      if (distance(factor.front()) < found.distance) found = {{k + 1, row}, distance(factor.front())};
    }
  }
  return found;
}

}  // namespace

Instructive instructive_step(const Run& run, const Outline& outline, std::optional<int> row) {
  if (row) {
    const Found found = best(run, outline, row);
    if (found.place.step > 0) return found.place;
  }
  const Found found = best(run, outline, std::nullopt);
  if (found.place.step > 0) return found.place;

  const std::int64_t middle = outline.events() / 2;
  std::int64_t nearest = -1;
  for (std::int64_t k = 0; k < outline.events(); ++k)
    if (run.events[static_cast<std::size_t>(k)].op == Op::exp &&
        (nearest < 0 || std::llabs(k - middle) < std::llabs(nearest - middle)))
      nearest = k;
  const std::int64_t step = (nearest < 0 ? middle : nearest) + (outline.events() > 0 ? 1 : 0);
  const TileSpan* tile = outline.at(step);
  return {step, tile ? tile->rows.begin : 0};
}

}  // namespace fa::viz

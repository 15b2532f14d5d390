#pragma once
// The step that shows most at one glance, for a picture of which nobody has said the step.

#include <cstdint>
#include <optional>

#include "viz/model/outline.h"

namespace fa::viz {

struct Instructive {
  std::int64_t step = 0;
  int row = 0;
};

// Where a rescaling well below 1 has just been done, with something worth keeping: in `row` if given and it has one, else
// in any row. A program that never rescales is shown in the middle of its softmax.
Instructive instructive_step(const Run& run, const Outline& outline, std::optional<int> row);

}  // namespace fa::viz

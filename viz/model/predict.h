#pragma once
// A question about the next rescaling of a row, asked before it is shown.

#include <cstdint>
#include <optional>
#include <string>

#include "viz/model/outline.h"

namespace fa::viz {

struct Prediction {
  std::string question;  // or why there is none
  bool asks = false;
  int row = 0;
  double m_old = 0, tile_max = 0, factor = 0;
  std::int64_t reveal = -1;  // the step where the factor is there
};

// About the first tile after `step` that meets what the row has kept; a row's first tile has nothing to rescale. Without
// a row: about the row that the next real rescaling, one with a factor below 1, shrinks most.
Prediction prediction(const Run& run, const Outline& outline, std::int64_t step, std::optional<int> row);

// Within 2 % of 1, or of what was asked for if that is more.
bool is_right(const Prediction& prediction, double answer);

}  // namespace fa::viz

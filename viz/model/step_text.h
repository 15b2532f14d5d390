#pragma once
// What happens at a step, in a few words and in one sentence.

#include <string>

#include "viz/model/outline.h"

namespace fa::viz {

struct StepText {
  std::string title;     // "block 2 · tile 1 · load V₁"
  std::string sentence;  // "V rows 8–15 go from HBM to SRAM: 1.0 KiB."
};

StepText step_text(const Run& run, const Outline& outline, std::int64_t step);

}  // namespace fa::viz

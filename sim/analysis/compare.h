#pragma once
// One program's run in the numbers that are set side by side, with the closed form that the count must equal.

#include <optional>
#include <string>

#include "sim/analysis/footprint.h"
#include "sim/record/counts.h"
#include "sim/record/run.h"

namespace fa {

struct Report {
  std::string program, pass;
  Tiling tiling;
  Counts counts;                      // counted
  std::optional<Counts> closed_form;  // reads and writes by tensor; none for a program without one
  bool closed_form_holds = false;     // every tensor's reads and writes equal it
  Bytes sram_peak;                    // of one block
  Footprint footprint;
  std::optional<Accuracy> accuracy;  // if the values were computed
};

Report report(const Run& run, const std::optional<Accuracy>& accuracy = std::nullopt);

}  // namespace fa

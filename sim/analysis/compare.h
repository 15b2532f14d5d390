#pragma once
// One program's run in the numbers that are set side by side, with the closed form that the count must equal.

#include <optional>
#include <string>

#include "sim/analysis/cache.h"
#include "sim/analysis/footprint.h"
#include "sim/analysis/roofline.h"
#include "sim/analysis/sram_forms.h"
#include "sim/record/counts.h"
#include "sim/record/run.h"

namespace fa {

struct Report {
  std::string program;
  Pass pass = Pass::forward;
  Tiling tiling;
  Counts counts;                      // counted
  std::optional<Counts> closed_form;  // reads, writes and reductions by tensor; none for a program without one
  bool closed_form_holds = false;     // every tensor's equal it
  std::optional<SramForm> sram_form;  // the same of SRAM reads and writes
  Bytes sram_peak;                    // of one block
  Footprint footprint;
  std::optional<DramTraffic> dram;   // modelled
  Roofline roofline;                 // a bound from both
  std::optional<Accuracy> accuracy;  // if the values were computed
};

Report report(const Run& run, const std::optional<Accuracy>& accuracy = std::nullopt);

}  // namespace fa

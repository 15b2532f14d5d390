#pragma once
// Simulated against measured: what a run predicts beside what the hardware's counters said (DESIGN.md, "Simulated ↔
// measured").

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/cache.h"
#include "sim/analysis/timeline.h"
#include "sim/record/measurement.h"
#include "sim/record/run.h"

namespace fa {

struct Comparison {
  std::string_view quantity;  // as in the JSON of `fasim run`: "requested_read_bytes"
  bool modelled = false;      // else counted
  double simulated = 0, measured = 0;
  std::optional<double> error_percent;  // of the measured; none if that is 0 and the simulated is not
};

// Every quantity that both sides have; those that are 0 on both are left out.
std::vector<Comparison> compare_measured(const Measurement& measurement, const Run& run, const DramTraffic* dram,
                                         const RunTime* time = nullptr);

struct ErrorSummary {
  std::string_view quantity;
  int count = 0;            // comparisons that have an error
  double mape_percent = 0;  // mean of |error|
  double max_percent = 0;   // largest |error|
};

// One for each quantity, in the order in which they first appear.
std::vector<ErrorSummary> summarise(const std::vector<Comparison>& comparisons);

}  // namespace fa

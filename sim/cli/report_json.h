#pragma once
// The JSON that other programs rely on (DESIGN.md). A field that was not computed is null.

#include <optional>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace fa::cli {

// One program's run, ready to be written.
struct Entry {
  Run run;  // its launches; events are not written
  Report report;
  std::optional<RunTime> time = std::nullopt;  // modelled, if asked for
  std::vector<SramTraffic> sram = {};          // by launch, if asked for
  std::vector<RegisterUse> registers = {};
};

// A measurement with what became of it.
struct MeasuredRows {
  Measurement measurement;
  std::vector<Comparison> comparisons;
  std::string left_out;  // why it could not be simulated; empty if it was
};
std::string measured_json(const MeasurementFile& file, const Hardware& hardware, const std::vector<MeasuredRows>& rows,
                          const std::vector<ErrorSummary>& summary);

std::string report_json(const Problem& problem, const Hardware& hardware, const std::string& source,
                        const std::vector<Entry>& entries);

// The largest n of each program whose tensors fit in a GPU's memory.
struct Reach {
  std::string gpu;
  Bytes dram;
  std::vector<int> largest_n;  // in the programs' order
};

// For `bounds` and `list`.
std::string bounds_json(const Problem& problem, Pass pass, const Hardware& hardware,
                        const std::vector<std::pair<std::string, Tiling>>& programs, const std::vector<Reach>& reach);
std::string paper_json();
std::string list_json(const std::vector<std::string>& inputs);

}  // namespace fa::cli

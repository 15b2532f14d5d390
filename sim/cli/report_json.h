#pragma once
// The JSON that other programs rely on (DESIGN.md). A field that was not computed is null.

#include <string>
#include <vector>

#include "sim/sim.h"

namespace fa::cli {

// One program's run, ready to be written.
struct Entry {
  Run run;  // its launches; events are not written
  Report report;
};

std::string report_json(const Problem& problem, const Hardware& hardware, const std::string& source,
                        const std::vector<Entry>& entries);

// For `bounds` and `list`.
std::string bounds_json(const Problem& problem, const Hardware& hardware,
                        const std::vector<std::pair<std::string, Tiling>>& programs);
std::string list_json(const std::vector<std::string>& inputs);

}  // namespace fa::cli

#pragma once
// Tables of what is modelled of the memory system: DRAM behind L2, and the roofline.

#include <vector>

#include "sim/cli/report_json.h"
#include "sim/cli/specification.h"

namespace fa::cli {

// A row for each program. Nothing is printed if the GPU's L2 is not known.
void print_dram(const std::vector<Entry>& entries);
void print_rooflines(const std::vector<Entry>& entries);

// One program in detail: a row for each launch and tensor; a row for each roof.
void print_dram(const Entry& entry);
void print_roofline(const Roofline& roofline);

// From closed forms, at any size: the bytes of the closed form, and what any program must move through DRAM.
void print_bounds_rooflines(const Specification& specification);

}  // namespace fa::cli

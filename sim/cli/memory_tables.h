#pragma once
// Tables of the memory system: SRAM and registers, DRAM behind L2, and the roofline.

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

// One program: what moves between SRAM, registers and tensor cores, a row for each launch.
void print_sram(const Entry& entry);

// From closed forms, at any size: the bytes of the closed form, and what any program must move through DRAM.
void print_bounds_rooflines(const Specification& specification);

}  // namespace fa::cli

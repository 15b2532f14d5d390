#pragma once
// Time, modelled: what the commands print and write of it.

#include <string>

#include "sim/cli/specification.h"
#include "sim/sim.h"

namespace fa::cli {

// The run of a chosen program that models of time read; its cycles, if the GPU's rates are known.
Run run_of_kinds(const Specification& specification, const Chosen& chosen);

// A row for each launch; then the lanes of one SM, with what each waits for.
void print_time(const Run& run, const RunTime& time);

// The first `blocks` of every launch on the SM that finishes last, in the Chrome trace event format.
std::string perfetto_of(const Run& run, std::int64_t blocks);

}  // namespace fa::cli

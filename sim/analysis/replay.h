#pragma once

#include "sim/record/run.h"
#include "sim/record/state.h"

namespace fa {

// The machine as it stood after the first `step` events of a recorded run (clamped to what there is): which tile each
// buffer of the current block holds, with its values if they were recorded, and the bytes so far.
State replay(const Run& run, std::int64_t step);

}  // namespace fa

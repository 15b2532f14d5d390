#pragma once

#include "sim/record/run.h"

namespace fa {

// How many blocks of a launch one SM holds at a time: what fits in its SRAM, its registers and its warps, a warpgroup (4
// warps) for each block at least. From the buffers that the program opened; a real compiler may need more, or reuse some.
int blocks_per_sm(const Launch& launch, const Hardware& hardware);

}  // namespace fa

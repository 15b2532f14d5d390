#pragma once

#include "sim/record/run.h"

namespace fa {

// Groups of warps that each have a part of a block's rows, in buffers that bear the same names; and whose a buffer is.
int groups_of(const Launch& launch);
int group_of(const Launch& launch, BufferId buffer);

// Warps of a group, a warpgroup (4, one for each scheduler of an SM) at least.
int warps_of_group(const Launch& launch);

// How many blocks of a launch one SM holds at a time: what fits in its SRAM, its registers and its warps. Of the registers
// that the program opened, accumulators stay, and the rest takes turns (P is made where S was), so the largest of it
// counts; each thread needs some more for its work. A real compiler may need more.
int blocks_per_sm(const Run& run, const Launch& launch);

}  // namespace fa

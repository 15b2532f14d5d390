#pragma once
// What crosses between the SMs and the L2: what was requested, in whole sectors of 32 bytes, as the hardware's counters have
// it.
//
// Rows of S, P, dP and dS begin with a sector, and so do those of operands whose head dimension is a multiple of 16 (a row
// of 8 numbers more fills half a sector). The statistics of all heads lie side by side, so that a head's may begin in the
// middle of one; a warp moves 32 rows' at once, and half sectors at their ends cross whole.
//
// Where the copy engine moves whole tiles (Tiling::whole_boxes), what is outside of Q, K and V crosses too, as zeros.

#include "sim/record/run.h"

namespace fa {

inline constexpr std::int64_t sector_bytes = 32;

struct Sectors {
  Bytes read, written, reduced;
};
Sectors sectors(const Run& run);

}  // namespace fa

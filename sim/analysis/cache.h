#pragma once
// DRAM behind the L2, modelled: of the bytes that blocks request, those that the L2 does not hold.
//
// The blocks of a launch go to the SMs in order, as many at a time as fit, the next one where one ends. Those that run side
// by side take a step together: one tile of each tensor, in the order in which they move them. What that asks of the
// L2 is played tile by tile (l2.h); the L2 is cold before the first launch of a run and keeps what it holds from launch to
// launch. Left out: blocks that drift apart in time, cache hints, other traffic (sim/MODEL.md).

#include <array>
#include <optional>
#include <vector>

#include "sim/record/run.h"

namespace fa {

struct DramTraffic {
  std::array<TensorCounts, tensor_count> tensors;  // by tensor; `read` from DRAM, `written` to it

  Bytes read;     // DRAM → L2
  Bytes written;  // L2 → DRAM, until nothing in L2 is dirty
  Bytes dirty;    // of `written`: what still stands in L2 when the run ends, and leaves after it

  struct OfLaunch {
    Bytes read;
    Bytes written;  // while it runs, by whichever launch it was sent to L2; no launch counts `dirty`
    std::array<Bytes, tensor_count> read_of{};  // `read`, by tensor
  };
  std::vector<OfLaunch> launches;
};

// Nothing if no block ran, or the GPU's L2 or its number of SMs is not known.
std::optional<DramTraffic> dram_traffic(const Run& run);

}  // namespace fa

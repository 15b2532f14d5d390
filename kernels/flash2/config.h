// What a forward kernel of this folder is compiled from. A type, because nvcc cannot name a Tiling in a kernel's name.
#pragma once

#include "sim/config/tiling.h"

namespace fa::kernels {

template <class Number_, int d_>
struct Flash2Forward {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash2_forward_tiling(d);
  static constexpr int warps = tiling.flash2_warps(d).warps();
  static constexpr int blocks_per_sm = 2;  // as many as the registers of their rows allow
};

template <class Number_, int d_>
struct Flash2PingPong {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash2_pingpong_tiling(d);
  static constexpr int warps = tiling.groups * tiling.of_group().flash2_warps(d).warps();
};

template <class Number_, int d_>
struct Flash2Backward {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash2_backward_tiling(d);
  static constexpr BackwardWarps grids = tiling.flash2_backward_warps(d);
  static constexpr int warps = grids.S.warps();
  static constexpr int blocks_per_sm = d <= 64 ? 2 : 1;
  // Warps that share a slice of keys, and split its queries and columns: dK and dV of 32 keys × 128 columns, or of
  // 16 × 256, are too many for the registers of one.
  static constexpr int partners = grids.S.down;
  // dQ of a step is cut into dq_down × dq_across warps.
  static constexpr int dq_down = grids.dQ.down;
  static constexpr int dq_across = grids.dQ.across;
};

// For GPUs whose SRAM does not hold the tiles above.
template <class Number_, int d_>
struct Flash2BackwardSmall : Flash2Backward<Number_, d_> {
  static constexpr Tiling tiling = flash2_small_backward_tiling(d_);
  static_assert(tiling.flash2_backward_warps(d_) == Flash2Backward<Number_, d_>::grids);
};

}  // namespace fa::kernels

// What a forward kernel of this folder is compiled from. A type, because nvcc cannot name a Tiling in a kernel's name.
#pragma once

#include "kernels/tilings.h"

namespace fa::kernels {

template <class Number_, int d_>
struct Flash2Forward {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash2_forward_tiling(d);
  static constexpr int warps = 4;
  static constexpr int blocks_per_sm = 2;  // as many as the registers of their rows allow
};

template <class Number_, int d_>
struct Flash2PingPong {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash2_pingpong_tiling(d);
  static constexpr int warps = 8;
};

template <class Number_, int d_>
struct Flash2Backward {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash2_backward_tiling(d);
  static constexpr int warps = d <= 64 ? 4 : 8;
  static constexpr int blocks_per_sm = d <= 64 ? 2 : 1;
  // Warps that share a slice of keys, and split its queries and columns: dK and dV of 32 keys × 128 columns, or of
  // 16 × 256, are too many for the registers of one.
  static constexpr int partners = d <= 64 ? 1 : 2;
  // dQ of a step is cut into dq_down × dq_across warps.
  static constexpr int dq_down = 2;
  static constexpr int dq_across = warps / dq_down;
};

// For GPUs whose SRAM does not hold the tiles above.
template <class Number_, int d_>
struct Flash2BackwardSmall : Flash2Backward<Number_, d_> {
  static constexpr Tiling tiling = flash2_small_backward_tiling(d_);
};

}  // namespace fa::kernels

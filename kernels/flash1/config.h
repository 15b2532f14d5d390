// What the kernels of this folder are compiled from.
#pragma once

#include "sim/config/tiling.h"

namespace fa::kernels {

template <class Number_, int d_>
struct Flash1 {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash1_tiling(d);
  static constexpr int warps = tiling.flash1_warps().warps();
};

}  // namespace fa::kernels

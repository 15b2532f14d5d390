// What a kernel of this folder is compiled from. A type, because nvcc cannot name a Tiling in a kernel's name.
#pragma once

#include "sim/config/tiling.h"

namespace fa::kernels {

template <class Number_, int d_>
struct Flash3Forward {
  using Number = Number_;
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash3_forward_tiling(d);
  static constexpr int q_stages = d <= 128 ? 2 : 1;  // the next tile's Q lands while O leaves through this one's
};

// The steps towards it, which hold one tile of Q.
template <class Number, int d>
struct Flash3Step1 : Flash3Forward<Number, d> {
  static constexpr Tiling tiling = flash3_wgmma_tiling(d);
  static constexpr int q_stages = 1;
};
template <class Number, int d>
struct Flash3Step2 : Flash3Forward<Number, d> {
  static constexpr Tiling tiling = flash3_specialised_tiling(d);
  static constexpr int q_stages = 1;
};
template <class Number, int d>
struct Flash3Step3 : Flash3Forward<Number, d> {
  static constexpr Tiling tiling = flash3_pingpong_tiling(d);
  static constexpr int q_stages = 1;
};
template <class Number, int d>
struct Flash3Step4 : Flash3Forward<Number, d> {
  static constexpr int q_stages = 1;
};

}  // namespace fa::kernels

// Online softmax that spares the arithmetic units: m is only a reference point, and it moves only when it must.
//
// P = 2^(c·S − m), l = ΣP and O = ΣPV give the same O / l for any m; m only keeps P in range. So m need not be the maximum:
// here it starts `lag` above it, in units of log2, and stays until a score passes it. After the first tile or two no row
// of a warp does, and then a tile costs no rescaling of O, no shuffles, and half an instruction per score to find that out:
// the signs of c·S − m, three at a time.   [FA-4 §3.1.3 has the lag, with the maximum computed each time]
#pragma once

#include "kernels/device/softmax.cuh"

namespace fa::kernels {

template <class Number>
struct LazySoftmax : OnlineSoftmax<1> {  // its m is in units of log2, of the scaled score
  // bf16 has exponents to spare; fp16 rounds what is below 2^-14.
  static constexpr float lag = std::is_same_v<Number, __half> ? 4 : 8;

  bool seen[2] = {false, false};  // whether a row has seen a score, and so has a reference point
  bool all_seen = false;          // all rows of the warp

  __device__ __forceinline__ LazySoftmax() { m[0][0] = m[0][1] = 0; }

  // S becomes c·S − m, at most 0. True if m moved: then O must be multiplied by `factor`. The same answer in all lanes of
  // the warp.
  template <int tiles>
  __device__ __forceinline__ bool subtract(float (&S)[1][tiles][4], float c, float (&factor)[2]) {
    int signs = -1;
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
#pragma unroll
      for (int e = 0; e < 4; ++e) S[0][t][e] = fmaf(S[0][t][e], c, -m[0][e / 2]);
      signs &= __float_as_int(S[0][t][0]) & __float_as_int(S[0][t][1]);
      signs &= __float_as_int(S[0][t][2]) & __float_as_int(S[0][t][3]);
    }
    // A NaN has no sign here, so it counts as passed; it then finds its own way into l and O.
    const bool moves = !all_seen || __any_sync(0xffffffff, signs >= 0);
    if (moves) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float highest = S[0][0][2 * half];
#pragma unroll
        for (int t = 0; t < tiles; ++t) highest = fmaxf(highest, fmaxf(S[0][t][2 * half], S[0][t][2 * half + 1]));
        highest = quad_max(highest);
        const bool first = !seen[half] && highest != -infinity;
        const float up = first || highest > 0 ? highest + lag : 0.f;
        factor[half] = first ? 1.f : exp2_fast(-up);  // before the first score there is nothing to rescale
        seen[half] = seen[half] || first;
        m[0][half] += up;
        l[0][half] *= factor[half];
#pragma unroll
        for (int t = 0; t < tiles; ++t) S[0][t][2 * half] -= up, S[0][t][2 * half + 1] -= up;
      }
      all_seen = __all_sync(0xffffffff, seen[0] && seen[1]);
    }
    return moves;
  }

  // c·S − m becomes P.
  // Returns 0, in a way that tells the compiler nothing: what uses it cannot be moved before the last exponential.
  template <int tiles>
  __device__ __forceinline__ unsigned exponentials(float (&S)[1][tiles][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum[2] = {0, 0};
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& s = S[0][t][2 * half + e];
          s = exp2_fast(s);
          sum[e] += s;
        }
      l[0][half] += sum[0] + sum[1];
    }
    return (__float_as_uint(l[0][0]) | __float_as_uint(l[0][1])) >> 31;  // the sign of a sum of exponentials
  }

  __device__ __forceinline__ void finish(const Problem& problem, int first_row, float* lse) {
    OnlineSoftmax<1>::finish(problem, first_row, ln_2, lse);
  }
};

template <int tiles>
__device__ __forceinline__ void rescale(float (&O)[1][tiles][4], const float (&factor)[2]) {
#pragma unroll
  for (int t = 0; t < tiles; ++t) {
    O[0][t][0] *= factor[0];
    O[0][t][1] *= factor[0];
    O[0][t][2] *= factor[1];
    O[0][t][3] *= factor[1];
  }
}

}  // namespace fa::kernels

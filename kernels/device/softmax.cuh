// Online softmax on the rows that a warp holds as mma accumulators (ptx.cuh draws them).
//
// A row of S lives in the four lanes of a quad, so its maximum takes two shuffles per tile. Its sum needs none until the
// end: each lane adds up its own columns, and the rescale factor is the same for all four.
//
//   m' = max(m, rowmax S)    P = exp(S − m')    l = l·exp(m − m') + rowsum P    O = O·exp(m − m')     [FA-2 §3.1.1]
//
// S holds q·k without the scale; exp(scale·(S − m)) = 2^(c·S − c·m), c = scale·log2 e: one multiply-add, one exp2.
#pragma once

#include "kernels/device/numbers.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/visible.cuh"

namespace fa::kernels {

// The largest (sum) of a value over the four lanes that share a row.
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 1);
  return x + __shfl_xor_sync(0xffffffff, x, 2);
}

// A quad holds a row of two neighbouring tiles, each lane two numbers of `first` and two of `second`. Afterwards each lane
// holds four neighbours, so that the quad's store covers a whole sector of 32 bytes.
__device__ __forceinline__ uint2 quad_row(std::uint32_t first, std::uint32_t second) {
  const int lane = threadIdx.x % 32, source = lane / 4 * 4 + lane % 2 * 2;
  const std::uint32_t first_low = __shfl_sync(0xffffffff, first, source),
                      second_low = __shfl_sync(0xffffffff, second, source);
  const std::uint32_t first_high = __shfl_sync(0xffffffff, first, source + 1);
  const std::uint32_t second_high = __shfl_sync(0xffffffff, second, source + 1);
  return lane % 4 < 2 ? make_uint2(first_low, first_high) : make_uint2(second_low, second_high);
}

// m and l of the rows of `patches` 16-row patches: this lane sees rows g and g + 8 of each.
template <int patches>
struct OnlineSoftmax {
  float m[patches][2];
  float l[patches][2];

  __device__ __forceinline__ OnlineSoftmax() {
#pragma unroll
    for (int p = 0; p < patches; ++p) {
      m[p][0] = m[p][1] = -infinity;
      l[p][0] = l[p][1] = 0;
    }
  }

  // S becomes P; O is rescaled to the new maxima.
  template <int key_tiles, int d_tiles>
  __device__ __forceinline__ void step(float (&S)[patches][key_tiles][4], float (&O)[patches][d_tiles][4], float c) {
    float rescale[patches][2];
    bool grew = false;
#pragma unroll
    for (int p = 0; p < patches; ++p) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float row_max = m[p][half];
#pragma unroll
        for (int k = 0; k < key_tiles; ++k) row_max = fmaxf(row_max, fmaxf(S[p][k][2 * half], S[p][k][2 * half + 1]));
        row_max = quad_max(row_max);
        // A row that has seen no key has m = −inf, and −inf − (−inf) is NaN: subtract 0 instead, P and the factor are 0.
        const float subtract = row_max == -infinity ? 0.f : row_max * c;
        rescale[p][half] = exp2_fast(m[p][half] * c - subtract);
        grew = grew || row_max != m[p][half];
        m[p][half] = row_max;
        float sum = 0;
#pragma unroll
        for (int k = 0; k < key_tiles; ++k) {
          S[p][k][2 * half] = exp2_fast(S[p][k][2 * half] * c - subtract);
          S[p][k][2 * half + 1] = exp2_fast(S[p][k][2 * half + 1] * c - subtract);
          sum += S[p][k][2 * half] + S[p][k][2 * half + 1];
        }
        l[p][half] = l[p][half] * rescale[p][half] + sum;
      }
    }
    // After the first few tiles the maximum seldom grows, and a factor of exactly 1 changes nothing: then skip the work.
    if (__any_sync(0xffffffff, grew)) {
#pragma unroll
      for (int p = 0; p < patches; ++p) {
#pragma unroll
        for (int t = 0; t < d_tiles; ++t) {
          O[p][t][0] *= rescale[p][0];
          O[p][t][1] *= rescale[p][0];
          O[p][t][2] *= rescale[p][1];
          O[p][t][3] *= rescale[p][1];
        }
      }
    }
  }

  // Once all keys are in: turns l into the factor 1 / l, and writes the LSE of rows [first_row, …) below n_q. A row that
  // saw no key gets the factor 0 and the LSE −inf. Lane i gathers and writes row i, so that whole sectors leave at once.
  __device__ __forceinline__ void finish(const Problem& problem, int first_row, float scale, float* lse) {
    const int lane = threadIdx.x % 32;
    float lse_of_lane = 0;
#pragma unroll
    for (int p = 0; p < patches; ++p)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const bool saw_a_key = visible_keys(problem, first_row + p * 16 + half * 8 + lane / 4) > 0;
        const float sum = quad_sum(l[p][half]);
        // A sum of 0 in spite of visible keys means that every score was −inf: NaN, as in double.
        const float log_sum = sum == 0.f ? not_a_number : m[p][half] * scale + __logf(sum);
        l[p][half] = saw_a_key ? 1.f / sum : 0.f;
        const float gathered = __shfl_sync(0xffffffff, saw_a_key ? log_sum : -infinity, lane % 8 * 4);
        if (lane / 8 == 2 * p + half) lse_of_lane = gathered;
      }
    if (lane < patches * 16 && first_row + lane < problem.n_q) lse[first_row + lane] = lse_of_lane;
  }
};

}  // namespace fa::kernels

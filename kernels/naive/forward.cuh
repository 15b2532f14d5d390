// Attention as the textbook writes it: three kernels, and S and P in HBM between them.
//
//   S = scale · Q Kᵀ      one block per 128 × 128 tile of S                 HBM: read Q and K once per tile, write S
//   P = softmax(S)        one block per 8 rows; a row stays in registers         read S, write P (in S's place) and LSE
//   O = P V               one block per 128 rows of O                            read P, V once per block; write O
//
//         K                        V
//       ┌─────┐                  ┌───┐           HBM, numbers of 16 bits, per head, with 128-row tiles:
//   Q   │     │      P           │   │ O           read  2·n_q·n_kv + (2·n_q·n_kv/128)·d + (n_q/128)·n_kv·d
//  ┌─┐ ┌┴─────┴┐   ┌───────┐   ┌─┴───┤             write 2·n_q·n_kv + n_q·d
//  │ │ │   S   │ → │       │ → │     │           n = 4096, d = 128: 160 MiB read, 65 MiB written
//  └─┘ └───────┘   └───────┘   └─────┘                                           [FA-1, Algorithm 0]
//
// The products run on the tensor cores and stream through shared memory (product.cuh): what is naive here is the traffic,
// not the code. S is rounded to 16 bits, as frameworks do; its rounding is in P and in LSE.
#pragma once

#include "kernels/device/softmax.cuh"
#include "kernels/naive/scores_space.cuh"
#include "sim/config/tiling.h"

namespace fa::kernels {

template <class Number>
using ScoresProduct = Product<Number, 128, false, true>;
template <class Number, int d>
using RowsProduct = Product<Number, d, false, false>;

// C = factor · A Bᵀ for every head: S from Q and K, or dP from dO and V.
template <class Number>
__global__ void __launch_bounds__(256) naive_scores(const __grid_constant__ Args args, bool backward) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Problem& problem = args.problem;
  const ScoresSpace<Number> space(args);
  const int batch = blockIdx.z / problem.heads, head = blockIdx.z % problem.heads;
  const int kv_head = head / (problem.heads / problem.kv_heads);
  const int row = blockIdx.y * 128, key = blockIdx.x * 128;
  const View &A = backward ? args.d_out : args.q, &B = backward ? args.v : args.k;
  ScoresProduct<Number> product(smem_address(shared));
  product.add(part_of(head_of<const Number>(A, batch, head), A.row_stride, problem.n_q, problem.d, row, 0),
              part_of(head_of<const Number>(B, batch, kv_head), B.row_stride, problem.n_kv, problem.d, key, 0),
              problem.d);
  Number* out = (backward ? space.second : space.first) + blockIdx.z * space.head_stride;
  product.store(backward ? 1.f : args.scale, out + row * space.row_stride + key, space.row_stride, problem.n_q - row,
                problem.n_kv - key);
}

// Sum and maximum over a block.
template <int threads, class Combine>
__device__ __forceinline__ float over_block(float x, Combine combine, float* scratch) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x = combine(x, __shfl_xor_sync(0xffffffff, x, distance));
  __syncthreads();  // the scratch of a reduction before this one has been read
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();  // each warp's part is there
  x = scratch[0];
#pragma unroll
  for (int warp = 1; warp < threads / 32; ++warp) x = combine(x, scratch[warp]);
  return x;
}

// P = exp(S − max) / sum, eight rows per block one after the other, 8 · chunks numbers per thread. `whole` rows fit in the
// registers and are read once; longer ones pass twice: for the maximum and the sum, which is corrected when a larger
// maximum comes, and for P.
inline constexpr int softmax_rows = Tiling::rows_of_a_block;
template <class Number, int threads, int chunks, bool whole>
__global__ void __launch_bounds__(threads) naive_softmax(const __grid_constant__ Args args) {
  __shared__ float scratch[threads / 32];
  __shared__ float lse[softmax_rows];
  const Problem& problem = args.problem;
  const ScoresSpace<Number> space(args);
  const int first_row = blockIdx.x * softmax_rows, batch_head = blockIdx.y;
  constexpr int stretch = threads * chunks * 8;
  const int end = whole ? 1 : problem.n_kv;
  const auto larger = [](float x, float y) { return fmaxf(x, y); };
  const auto plus = [](float x, float y) { return x + y; };

  for (int row = first_row; row < min(first_row + softmax_rows, problem.n_q); ++row) {
    const int visible = visible_keys(problem, row);
    Number* S = space.first + batch_head * space.head_stride + row * space.row_stride;
    float held[chunks * 8];

    auto load = [&](int first) {
#pragma unroll
      for (int i = 0; i < chunks; ++i) {
        const int column = first + (i * threads + static_cast<int>(threadIdx.x)) * 8;
        uint4 packed = make_uint4(0, 0, 0, 0);
        if (column < problem.n_kv) {
          const auto* place = reinterpret_cast<const uint4*>(S + column);
          packed =
              whole ? *place : load_past_l1(place);  // 64k numbers of 16 bits would fit in the L1: one pass, not two
        }
        const std::uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float2 two = unpack<Number>(pairs[e]);
          held[i * 8 + 2 * e] = column + 2 * e < visible ? two.x : -infinity;
          held[i * 8 + 2 * e + 1] = column + 2 * e + 1 < visible ? two.y : -infinity;
        }
      }
    };
    float m = -infinity, subtract = 0, l = 0;
    for (int first = 0; first < end; first += stretch) {
      load(first);
      float largest = m;
#pragma unroll
      for (int i = 0; i < chunks * 8; ++i) largest = fmaxf(largest, held[i]);
      largest = over_block<threads>(largest, larger, scratch);
      subtract = largest == -infinity ? 0.f : largest * log2_e;  // −inf − (−inf) would be NaN
      if constexpr (!whole) l *= exp2_fast(m * log2_e - subtract);
      m = largest;
#pragma unroll
      for (int i = 0; i < chunks * 8; ++i) {
        held[i] = exp2_fast(held[i] * log2_e - subtract);
        l += held[i];
      }
    }
    l = over_block<threads>(l, plus, scratch);
    const float inverse = visible == 0 ? 0.f : 1.f / l;
    for (int first = 0; first < end; first += stretch) {
      if constexpr (!whole) {
        load(first);
#pragma unroll
        for (int i = 0; i < chunks * 8; ++i) held[i] = exp2_fast(held[i] * log2_e - subtract);
      }
#pragma unroll
      for (int i = 0; i < chunks; ++i) {
        const int column = first + (i * threads + static_cast<int>(threadIdx.x)) * 8;
        std::uint32_t pairs[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          // Beyond the visible keys P is 0 whatever stands in its row: the product with V reads whole chunks.
          const float x = column + 2 * e < visible ? held[i * 8 + 2 * e] * inverse : 0.f;
          const float y = column + 2 * e + 1 < visible ? held[i * 8 + 2 * e + 1] * inverse : 0.f;
          pairs[e] = pack<Number>(x, y);
        }
        if (column < problem.n_kv)
          *reinterpret_cast<uint4*>(S + column) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      }
    }
    if (threadIdx.x == 0) lse[row - first_row] = visible == 0 ? -infinity : l == 0.f ? not_a_number : m + __logf(l);
  }
  __syncthreads();  // the last LSE is there
  if (threadIdx.x < softmax_rows && first_row + threadIdx.x < problem.n_q)
    args.lse[static_cast<std::int64_t>(batch_head) * problem.n_q + first_row + threadIdx.x] = lse[threadIdx.x];
}

// O = P V for every head; backward, dQ = scale · dS K.
template <class Number, int d>
__global__ void __launch_bounds__(256) naive_rows(const __grid_constant__ Args args, bool backward) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Problem& problem = args.problem;
  const ScoresSpace<Number> space(args);
  const int batch = blockIdx.z, head = blockIdx.y, row = blockIdx.x * 128;
  const int kv_head = head / (problem.heads / problem.kv_heads);
  const std::int64_t batch_head = static_cast<std::int64_t>(batch) * problem.heads + head;
  const Number* A = (backward ? space.second : space.first) + batch_head * space.head_stride;
  const View &B = backward ? args.k : args.v, &C = backward ? args.dq : args.o;
  RowsProduct<Number, d> product(smem_address(shared));
  product.add(part_of(A, space.row_stride, problem.n_q, problem.n_kv, row, 0),
              part_of(head_of<const Number>(B, batch, kv_head), B.row_stride, problem.n_kv, problem.d, 0, 0),
              problem.n_kv);
  product.store(backward ? args.scale : 1.f, head_of<Number>(C, batch, head) + row * C.row_stride, C.row_stride,
                problem.n_q - row, problem.d);
}

template <class Number>
void launch_naive_scores(const Args& args, bool backward) {
  const Problem& p = args.problem;
  launch(naive_scores<Number>, dim3(blocks(p.n_kv, 128), blocks(p.n_q, 128), p.batch * p.heads), 256,
         ScoresProduct<Number>::shared_memory, args, backward);
}
template <class Number, int d>
void launch_naive_rows(const Args& args, bool backward) {
  const Problem& p = args.problem;
  launch(naive_rows<Number, d>, dim3(blocks(p.n_q, 128), p.heads, p.batch), 256, RowsProduct<Number, d>::shared_memory,
         args, backward);
}

template <class Number, int d>
void launch_naive_forward(const Args& args) {
  const Problem& p = args.problem;
  launch_naive_scores<Number>(args, false);
  const dim3 rows(blocks(p.n_q, softmax_rows), p.batch * p.heads);
  constexpr auto lengths = Tiling::row_lengths;
  static_assert(lengths[0] == 256 * 8 && lengths[1] == 256 * 32 && lengths[2] == 512 * 64);
  if (p.n_kv <= lengths[0])
    launch(naive_softmax<Number, 256, 1, true>, rows, 256, 0, args);
  else if (p.n_kv <= lengths[1])
    launch(naive_softmax<Number, 256, 4, true>, rows, 256, 0, args);
  else if (p.n_kv <= lengths[2])
    launch(naive_softmax<Number, 512, 8, true>, rows, 512, 0, args);
  else
    launch(naive_softmax<Number, 512, 8, false>, rows, 512, 0, args);
  launch_naive_rows<Number, d>(args, false);
}

}  // namespace fa::kernels

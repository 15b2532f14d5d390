// The backward pass of naive attention: six kernels, and P, dP and dS in HBM between them.
//
//   P  = exp(scale·Q Kᵀ − LSE)     again from Q and K, since the forward pass kept the LSE only        write P
//   dP = dO Vᵀ                                                                                         write dP
//   dS = P ∘ (dP − rowsum(P ∘ dP))     one block per row                              read P, dP; write dS in dP's place
//   dV = Pᵀ dO      dK = scale · dSᵀ Q     one block per 128 keys: sums over the group's heads in fp32     read P and dS
//   dQ = scale · dS K                      one block per 128 queries                                       read dS
//
//  HBM, numbers of 16 bits, per head: read 5·n_q·n_kv, write 3·n_q·n_kv, and the operands once per 128-row tile.
//  n = 4096, d = 128: 384 MiB read and 99 MiB written.                                      [FA-1, Algorithm 3]
#pragma once

#include "kernels/naive/forward.cuh"

namespace fa::kernels {

template <class Number, int d>
using KeysProduct = Product<Number, d, true, false>;

// P, with 0 where a query does not see a key.
template <class Number>
__global__ void __launch_bounds__(256) naive_probabilities(const __grid_constant__ Args args) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Problem& problem = args.problem;
  const ScoresSpace<Number> space(args);
  const int batch = blockIdx.z / problem.heads, head = blockIdx.z % problem.heads;
  const int kv_head = head / (problem.heads / problem.kv_heads);
  const int row = blockIdx.y * 128, key = blockIdx.x * 128;
  using Scores = ScoresProduct<Number>;
  Scores product(smem_address(shared));
  product.add(
      part_of(head_of<const Number>(args.q, batch, head), args.q.row_stride, problem.n_q, problem.d, row, 0),
      part_of(head_of<const Number>(args.k, batch, kv_head), args.k.row_stride, problem.n_kv, problem.d, key, 0),
      problem.d);
  const float* lse = args.lse + static_cast<std::int64_t>(blockIdx.z) * problem.n_q;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int p = 0; p < Scores::patches; ++p)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = row + product.warp_row + p * 16 + half * 8 + lane / 4;
      const int limit =
          (query < problem.n_q ? visible_keys(problem, query) : 0) - key - product.warp_tile * 8 - lane % 4 * 2;
      const float lse2 = query < problem.n_q ? lse[query] * log2_e : 0.f;
#pragma unroll
      for (int t = 0; t < Scores::tiles; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = product.C[p][t][2 * half + e];
          x = t * 8 + e < limit ? exp2_fast(x * (args.scale * log2_e) - lse2) : 0.f;
        }
    }
  product.store(1.f, space.first + blockIdx.z * space.head_stride + row * space.row_stride + key, space.row_stride,
                problem.n_q - row, problem.n_kv - key);
}

// dS = P ∘ (dP − rowsum(P ∘ dP)), a row per block; `whole` rows stay in registers, longer ones are read twice.
template <class Number, int threads, int chunks, bool whole>
__global__ void __launch_bounds__(threads) naive_dsoftmax(const __grid_constant__ Args args) {
  __shared__ float scratch[threads / 32];
  const Problem& problem = args.problem;
  const ScoresSpace<Number> space(args);
  const std::int64_t offset = blockIdx.y * space.head_stride + blockIdx.x * space.row_stride;
  const int visible = visible_keys(problem, blockIdx.x);
  const Number* P = space.first + offset;
  Number* dP = space.second + offset;
  uint4 P_held[chunks], dP_held[chunks];

  auto column_of = [&](int first, int i) { return first + (i * threads + static_cast<int>(threadIdx.x)) * 8; };
  auto load = [&](int first) {
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const int column = column_of(first, i);
      P_held[i] = dP_held[i] = make_uint4(0, 0, 0, 0);
      if (column >= problem.n_kv) continue;
      P_held[i] = *reinterpret_cast<const uint4*>(P + column);
      dP_held[i] = *reinterpret_cast<const uint4*>(dP + column);
    }
  };
  constexpr int stretch = threads * chunks * 8;
  const int end = whole ? 1 : problem.n_kv;

  float D = 0;
  for (int first = 0; first < end; first += stretch) {
    load(first);
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const std::uint32_t p[4] = {P_held[i].x, P_held[i].y, P_held[i].z, P_held[i].w};
      const std::uint32_t g[4] = {dP_held[i].x, dP_held[i].y, dP_held[i].z, dP_held[i].w};
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float2 x = unpack<Number>(p[e]), y = unpack<Number>(g[e]);
        const int column = column_of(first, i) + 2 * e;
        if (column < visible) D += x.x * y.x;  // a NaN in an unseen key's V stays out
        if (column + 1 < visible) D += x.y * y.y;
      }
    }
  }
  D = over_block<threads>(
      D, [](float x, float y) { return x + y; }, scratch);
  for (int first = 0; first < end; first += stretch) {
    if constexpr (!whole) load(first);
#pragma unroll
    for (int i = 0; i < chunks; ++i) {
      const std::uint32_t p[4] = {P_held[i].x, P_held[i].y, P_held[i].z, P_held[i].w};
      const std::uint32_t g[4] = {dP_held[i].x, dP_held[i].y, dP_held[i].z, dP_held[i].w};
      std::uint32_t packed[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float2 x = unpack<Number>(p[e]), y = unpack<Number>(g[e]);
        const int column = column_of(first, i) + 2 * e;
        packed[e] =
            pack<Number>(column < visible ? x.x * (y.x - D) : 0.f, column + 1 < visible ? x.y * (y.y - D) : 0.f);
      }
      if (column_of(first, i) < problem.n_kv)
        *reinterpret_cast<uint4*>(dP + column_of(first, i)) = make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

// dV = Σ Pᵀ dO, or dK = scale · Σ dSᵀ Q, over the query heads of a group.
template <class Number, int d>
__global__ void __launch_bounds__(256) naive_keys(const __grid_constant__ Args args, bool of_K) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Problem& problem = args.problem;
  const ScoresSpace<Number> space(args);
  const int batch = blockIdx.z, kv_head = blockIdx.y, key = blockIdx.x * 128, group = problem.heads / problem.kv_heads;
  const View &B = of_K ? args.q : args.d_out, &C = of_K ? args.dk : args.dv;
  KeysProduct<Number, d> product(smem_address(shared));
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const std::int64_t batch_head = static_cast<std::int64_t>(batch) * problem.heads + head;
    const Number* A = (of_K ? space.second : space.first) + batch_head * space.head_stride;
    product.add(part_of(A, space.row_stride, problem.n_q, problem.n_kv, 0, key),
                part_of(head_of<const Number>(B, batch, head), B.row_stride, problem.n_q, problem.d, 0, 0),
                problem.n_q);
  }
  product.store(of_K ? args.scale : 1.f, head_of<Number>(C, batch, kv_head) + key * C.row_stride, C.row_stride,
                problem.n_kv - key, problem.d);
}

template <class Number, int d>
void launch_naive_backward(const Args& args) {
  const Problem& p = args.problem;
  launch(naive_probabilities<Number>, dim3(blocks(p.n_kv, 128), blocks(p.n_q, 128), p.batch * p.heads), 256,
         ScoresProduct<Number>::shared_memory, args);
  launch_naive_scores<Number>(args, true);
  const dim3 rows(p.n_q, p.batch * p.heads), keys(blocks(p.n_kv, 128), p.kv_heads, p.batch);
  static_assert(Tiling::row_lengths.back() == 2 * 256 * 64, "P and dP of a whole row: 64 numbers each in a thread");
  if (p.n_kv <= 256 * 8)
    launch(naive_dsoftmax<Number, 256, 1, true>, rows, 256, 0, args);
  else if (p.n_kv <= 256 * 32)
    launch(naive_dsoftmax<Number, 256, 4, true>, rows, 256, 0, args);
  else if (p.n_kv <= 256 * 64)
    launch(naive_dsoftmax<Number, 256, 8, true>, rows, 256, 0, args);
  else
    launch(naive_dsoftmax<Number, 256, 4, false>, rows, 256, 0, args);
  for (const bool of_K : {false, true})
    launch(naive_keys<Number, d>, keys, 256, KeysProduct<Number, d>::shared_memory, args, of_K);
  launch_naive_rows<Number, d>(args, true);
}

}  // namespace fa::kernels

// What one thread block of a forward kernel works on: a tile of queries of one head, and the keys of its group.
#pragma once

#include "kernels/device/numbers.cuh"

namespace fa::kernels {

// Grid: x = tiles of rows_q queries, y = heads, z = batch. Each address is computed where it is used: kept alive over the
// main loop, they would cost it ten registers.
template <class Number>
struct QueryBlock {
  const Args& args;
  int first_row;  // of its queries

  // Causal blocks differ in length: the longest start first, so that the short ones fill the gaps at the end.
  __device__ __forceinline__ QueryBlock(const Args& args, int rows_q)
      : args(args), first_row((args.problem.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * rows_q) {}

  __device__ __forceinline__ int kv_head() const { return blockIdx.y / (args.problem.heads / args.problem.kv_heads); }
  __device__ __forceinline__ const Number* Q() const { return head_of<const Number>(args.q, blockIdx.z, blockIdx.y); }
  __device__ __forceinline__ const Number* K() const { return head_of<const Number>(args.k, blockIdx.z, kv_head()); }
  __device__ __forceinline__ const Number* V() const { return head_of<const Number>(args.v, blockIdx.z, kv_head()); }
  __device__ __forceinline__ Number* O() const { return head_of<Number>(args.o, blockIdx.z, blockIdx.y); }
  __device__ __forceinline__ float* lse() const {
    return args.lse + (static_cast<std::int64_t>(blockIdx.z) * args.problem.heads + blockIdx.y) * args.problem.n_q;
  }
};

inline dim3 query_grid(const Problem& problem, int rows_q) {
  return dim3((problem.n_q + rows_q - 1) / rows_q, problem.heads, problem.batch);
}

}  // namespace fa::kernels

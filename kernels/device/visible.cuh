// Which keys a query may see, and which queries see a key, in tiles and in numbers. Causal is aligned bottom-right: key j ≤ query i + n_kv − n_q.
#pragma once

#include "kernels/device/numbers.cuh"
#include "kernels/device/ptx.cuh"

namespace fa::kernels {

// Keys that query `row` sees: [0, result). Without a mask the diagonal lies beyond all keys; so one kernel serves both.
__device__ __forceinline__ int visible_keys(const Problem& problem, int row) {
  const int diagonal = problem.causal ? problem.n_kv - problem.n_q : problem.n_kv;
  return max(0, min(problem.n_kv, row + 1 + diagonal));
}

// Tiles of keys for the queries [first, first + count): `all` holds those that any of them sees, the first `whole` need
// no mask, as each query sees every key of theirs.
struct KeyTiles {
  int all;
  int whole;
};
template <int rows_kv>
__device__ __forceinline__ KeyTiles key_tiles(const Problem& problem, int first, int count) {
  const int last = min(first + count, problem.n_q) - 1;
  return {(visible_keys(problem, last) + rows_kv - 1) / rows_kv, visible_keys(problem, first) / rows_kv};
}

// S = −inf where a query (rows from `first_row`) does not see a key (columns from `first_key`).
template <int patches, int tiles>
__device__ __forceinline__ void mask_scores(float (&S)[patches][tiles][4], const Problem& problem, int first_row,
                                            int first_key) {
  const int lane = thread_index() % 32;
#pragma unroll
  for (int p = 0; p < patches; ++p)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + p * 16 + half * 8 + lane / 4;
      const int limit = visible_keys(problem, row) - first_key - lane % 4 * 2;
#pragma unroll
      for (int t = 0; t < tiles; ++t) {
        if (t * 8 >= limit) S[p][t][2 * half] = -infinity;
        if (t * 8 + 1 >= limit) S[p][t][2 * half + 1] = -infinity;
      }
    }
}

// The first query that sees `key`; it may lie past the last one.
__device__ __forceinline__ int first_query(const Problem& problem, int key) {
  return problem.causal ? max(0, key - (problem.n_kv - problem.n_q)) : 0;
}

// Whether a tile of scores holds one that does not exist: beyond the queries or the keys, or above the diagonal.
__device__ __forceinline__ bool has_edge(const Problem& problem, int first_row, int rows_q, int first_key,
                                         int rows_kv) {
  return first_row + rows_q > problem.n_q || first_key + rows_kv > problem.n_kv ||
         first_row < first_query(problem, first_key + rows_kv - 1);
}

// P = dS = 0 there: exactly, also where a NaN stood. Rows are keys (from `first_key`), columns queries (from `first_row`).
template <int patches, int tiles>
__device__ __forceinline__ void clear_unseen(float (&P)[patches][tiles][4], float (&dS)[patches][tiles][4],
                                             const Problem& problem, int first_row, int first_key) {
  const int lane = thread_index() % 32;
#pragma unroll
  for (int p = 0; p < patches; ++p)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = first_key + p * 16 + half * 8 + lane / 4, column = first_row + lane % 4 * 2;
      const int from = first_query(problem, key) - column, to = (key < problem.n_kv ? problem.n_q : 0) - column;
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (t * 8 + e < from || t * 8 + e >= to) P[p][t][2 * half + e] = dS[p][t][2 * half + e] = 0;
    }
}

}  // namespace fa::kernels

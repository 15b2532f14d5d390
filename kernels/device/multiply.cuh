// Matrix products of one warp, on tiles in shared memory and fragments in registers (ptx.cuh draws the fragments).
//
// A warp's accumulator is C[patch][tile][4]: 16-row patches down, 8-column tiles across. Each fragment of B that comes
// out of shared memory is used for all patches, so two patches halve the traffic of one: at 16 numbers deep, a warp of
// 32 × 64 reads 2 KB of B and 1 KB of A for 64 K multiply-adds.
#pragma once

#include "kernels/device/numbers.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/tile.cuh"

namespace fa::kernels {

// C += A · Bᵀ over the columns [16·from, 16·to) of both; A and B in shared memory.
template <class Number, int from, int to, int patches, int tiles, class TileA, class TileB>
__device__ __forceinline__ void multiply_transposed(float (&C)[patches][tiles][4],
                                                    const Walk<TileA, Order::rows_first>& A,
                                                    const Walk<TileB, Order::cols_first>& B) {
#pragma unroll
  for (int k = from; k < to; ++k) {
    std::uint32_t a[patches][4];
#pragma unroll
    for (int p = 0; p < patches; ++p) ldmatrix(a[p], A.at(p * 16, k));
#pragma unroll
    for (int n = 0; n < tiles / 2; ++n) {
      std::uint32_t b[4];
      ldmatrix(b, B.at(n * 16, k));
#pragma unroll
      for (int p = 0; p < patches; ++p) {
        mma<Number>(C[p][2 * n], a[p], b[0], b[1]);
        mma<Number>(C[p][2 * n + 1], a[p], b[2], b[3]);
      }
    }
  }
}

// C += A · B for 16 rows of B from `row`; A in registers, B in shared memory (its walk starts at C's first column).
template <class Number, int patches, int tiles, class TileB>
__device__ __forceinline__ void multiply(float (&C)[patches][tiles][4], const std::uint32_t (&A)[patches][4],
                                         const Walk<TileB, Order::rows_first>& B, int row) {
#pragma unroll
  for (int n = 0; n < tiles / 2; ++n) {
    std::uint32_t b[4];
    ldmatrix_transposed(b, B.at(row, n));
#pragma unroll
    for (int p = 0; p < patches; ++p) {
      mma<Number>(C[p][2 * n], A[p], b[0], b[1]);
      mma<Number>(C[p][2 * n + 1], A[p], b[2], b[3]);
    }
  }
}

// Columns [16·k, 16·k + 16) of an accumulator, rounded to 16 bits: the A operand of the next product.
template <class Number, int patches, int tiles>
__device__ __forceinline__ void pack_columns(std::uint32_t (&A)[patches][4], const float (&C)[patches][tiles][4],
                                             int k) {
#pragma unroll
  for (int p = 0; p < patches; ++p) {
    A[p][0] = pack<Number>(C[p][2 * k][0], C[p][2 * k][1]);
    A[p][1] = pack<Number>(C[p][2 * k][2], C[p][2 * k][3]);
    A[p][2] = pack<Number>(C[p][2 * k + 1][0], C[p][2 * k + 1][1]);
    A[p][3] = pack<Number>(C[p][2 * k + 1][2], C[p][2 * k + 1][3]);
  }
}

template <int patches, int tiles>
__device__ __forceinline__ void clear(float (&C)[patches][tiles][4]) {
#pragma unroll
  for (int p = 0; p < patches; ++p)
#pragma unroll
    for (int t = 0; t < tiles; ++t) C[p][t][0] = C[p][t][1] = C[p][t][2] = C[p][t][3] = 0;
}

// Writes a warp's accumulator, times a factor per row, as 16-bit numbers to rows [first_row + row, …) of a matrix in
// global memory. It goes through the warp's own part of a shared tile, from (row, 8·chunk), so that each store
// instruction of the warp covers whole rows of 32-byte sectors. Rows from n on and columns from d on stay untouched.
template <class Number, class Tile, int patches, int tiles>
__device__ __forceinline__ void store_rows(const Tile& stage, int row, int chunk, const float (&C)[patches][tiles][4],
                                           const float (&factor)[patches][2], Number* matrix, std::int64_t row_stride,
                                           int first_row, int n, int d) {
  const int lane = threadIdx.x % 32;
  const StoreWalk<Tile> walk(stage, row, chunk);
  __syncwarp();  // the lanes' reads of what the stage held are over
#pragma unroll
  for (int p = 0; p < patches; ++p)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int t = 0; t < tiles; ++t)
        store_smem(walk.at(p * 16 + half * 8, t),
                   pack<Number>(C[p][t][2 * half] * factor[p][half], C[p][t][2 * half + 1] * factor[p][half]));
  __syncwarp();  // written by all lanes, before any reads another's
#pragma unroll
  for (int i = 0; i < patches * 16 * tiles / 32; ++i) {
    const int r = row + (i * 32 + lane) / tiles, c = chunk + (i * 32 + lane) % tiles;
    if (first_row + r < n && c * 8 < d)
      store_global_16(matrix + (first_row + r) * row_stride + c * 8, load_smem_16(stage.at(r, c)));
  }
}

}  // namespace fa::kernels

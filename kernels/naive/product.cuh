// A tile of a matrix product, C [128 × columns] += A · B, by one thread block: the workhorse of naive attention.
//
//            B    K of 64 rows at a time        shared     A and B chunks in two stages: one is multiplied while the
//           ┌──────┬──────┐                                next arrives
//           │ chunk│ next │                     registers  C
//  A ┌────┐ └──────┴──────┘                     warps      8, four down and two across: each owns 32 × columns/2 of C
//    │    │   C += A_k B_k
//    └────┘
//
// Either operand may lie transposed in memory; ldmatrix turns it.
#pragma once

#include <type_traits>

#include "kernels/device/multiply.cuh"
#include "sim/config/tiling.h"

namespace fa::kernels {

// A matrix in global memory, or what is left of it from some row and column on.
template <class Number>
struct Matrix {
  const Number* data;
  std::int64_t row_stride;
  int rows;
  int columns;
};

template <class Number, int columns, bool A_transposed, bool B_transposed>
struct Product {
  static constexpr int rows = 128, depth = 64;
  static constexpr int warps_down = Tiling::gemm_warps({rows, columns}).down;
  static constexpr int warps_across = Tiling::gemm_warps({rows, columns}).across;
  static constexpr int threads = 32 * warps_down * warps_across;
  static constexpr int patches = rows / warps_down / 16, tiles = columns / warps_across / 8;
  using ATile = std::conditional_t<A_transposed, SmemTile<depth, rows>, SmemTile<rows, depth>>;
  using BTile = std::conditional_t<B_transposed, SmemTile<columns, depth>, SmemTile<depth, columns>>;
  using CTile = SmemTile<rows, columns>;  // C on its way out, in the place of the stages
  static constexpr int shared_memory = 2 * (ATile::bytes + BTile::bytes);
  static_assert(CTile::bytes <= shared_memory);

  std::uint32_t base;  // of the block's shared memory
  int warp_row, warp_tile;
  float C[patches][tiles][4] = {};

  __device__ __forceinline__ explicit Product(std::uint32_t base)
      : base(base),
        warp_row(threadIdx.x / 32 / warps_across * (patches * 16)),
        warp_tile(threadIdx.x / 32 % warps_across * tiles) {}

  // C += A · B, summed over `summed` numbers; more than one product may be added up.
  __device__ __forceinline__ void add(const Matrix<Number>& A, const Matrix<Number>& B, int summed) {
    auto A_smem = [&](int stage) { return ATile{base + stage * (ATile::bytes + BTile::bytes)}; };
    auto B_smem = [&](int stage) { return BTile{A_smem(stage).base + ATile::bytes}; };
    auto load = [&](int first, int stage) {
      if constexpr (A_transposed)
        copy_tile<threads, false>(A_smem(stage), A.data, A.row_stride, first, A.rows, A.columns);
      else
        copy_tile<threads, false>(A_smem(stage), A.data + first, A.row_stride, 0, A.rows, A.columns - first);
      if constexpr (B_transposed)
        copy_tile<threads, false>(B_smem(stage), B.data + first, B.row_stride, 0, B.rows, B.columns - first);
      else
        copy_tile<threads, false>(B_smem(stage), B.data, B.row_stride, first, B.rows, B.columns);
      cp_async_commit();
    };
    __syncthreads();  // a product before this one is done with both stages
    load(0, 0);
    for (int first = 0, stage = 0; first < summed; first += depth, stage ^= 1) {
      cp_async_wait<0>();
      __syncthreads();  // this chunk has landed; all have left the other stage
      if (first + depth < summed) load(first + depth, stage ^ 1);
      const Walk<ATile, Order::rows_first> A_rows(A_smem(stage), A_transposed ? 0 : warp_row);
      const Walk<ATile, Order::cols_first> A_turned(A_smem(stage), 0, A_transposed ? warp_row / 16 : 0);
      const Walk<BTile, Order::rows_first> B_rows(B_smem(stage), 0, B_transposed ? 0 : warp_tile / 2);
      const Walk<BTile, Order::cols_first> B_turned(B_smem(stage), B_transposed ? warp_tile * 8 : 0);
      if constexpr (!A_transposed && B_transposed) {
        multiply_transposed<Number, 0, depth / 16>(C, A_rows, B_turned);
      } else {
        static_assert(!B_transposed);
#pragma unroll
        for (int k = 0; k < depth / 16; ++k) {
          std::uint32_t a[patches][4];
#pragma unroll
          for (int p = 0; p < patches; ++p) {
            if constexpr (A_transposed)
              ldmatrix_transposed(a[p], A_turned.at(k * 16, p));
            else
              ldmatrix(a[p], A_rows.at(p * 16, k));
          }
          multiply<Number>(C, a, B_rows, k * 16);
        }
      }
    }
  }

  // C times `factor`, to a matrix of n × d that starts at C's first row and column.
  __device__ __forceinline__ void store(float factor, Number* matrix, std::int64_t row_stride, int n, int d) const {
    float factors[patches][2];
#pragma unroll
    for (int p = 0; p < patches; ++p) factors[p][0] = factors[p][1] = factor;
    __syncthreads();  // all are done with the stages, before C takes their place
    store_rows<Number>(CTile{base}, warp_row, warp_tile, C, factors, matrix, row_stride, 0, n, d);
  }
};

}  // namespace fa::kernels

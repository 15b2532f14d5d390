// FlashAttention-2, forward, step 2: shared memory without bank conflicts.
//
// As step 1 (forward_1_baseline.cuh draws it), and the same bytes. What changed: the tiles' layout, nothing else.
//
//   plain     rows of 2·d bytes one below the other: the 8 rows that one ldmatrix phase takes start at the same bank,
//             so the phase is served in 8 turns
//   swizzled  chunk c of row r lies at c ^ (r mod 8): the 8 rows use all 32 banks at once (device/tile.cuh)
//
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128, rows_q = 128: 65 MiB read and 1 MiB written per head.
//
// At d 128 Q, S and O leave no registers for four addresses (16 bytes): they are spilled, and read back once a tile of keys. The
// last step spills nothing.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/query_block.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/flash2/config.h"

namespace fa::kernels {

template <class Config>
struct Flash2Swizzle {
  using QTile = SmemTile<Config::tiling.rows_q, Config::d>;
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d>;  // and V's
  static constexpr int shared_memory = QTile::bytes + 2 * KTile::bytes;
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps, Config::blocks_per_sm)
    flash2_swizzle(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  using QTile = typename Flash2Swizzle<Config>::QTile;
  using KTile = typename Flash2Swizzle<Config>::KTile;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
  constexpr int threads = 32 * Config::warps, warp_rows = rows_q / Config::warps, patches = warp_rows / 16;

  extern __shared__ __align__(1024) unsigned char shared[];
  const QTile Q_smem{smem_address(shared)};
  const KTile K_smem{Q_smem.base + QTile::bytes}, V_smem{K_smem.base + KTile::bytes};

  const Problem& problem = args.problem;
  const QueryBlock<Number> block(args, rows_q);
  const Number *K = block.K(), *V = block.V();
  const KeyTiles tiles = key_tiles<rows_kv>(problem, block.first_row, rows_q);
  const int warp_row = threadIdx.x / 32 * warp_rows;

  float O_reg[patches][d / 8][4] = {};
  OnlineSoftmax<patches> softmax;

  copy_tile<threads, false>(Q_smem, block.Q(), args.q.row_stride, block.first_row, problem.n_q, problem.d);
  cp_async_commit();
  for (int j = tiles.all - 1; j >= 0; --j) {
    copy_tile<threads, false>(K_smem, K, args.k.row_stride, j * rows_kv, problem.n_kv, problem.d);
    copy_tile<threads, false>(V_smem, V, args.v.row_stride, j * rows_kv, problem.n_kv, problem.d);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();  // each thread has waited for its own copies only

    float S_reg[patches][rows_kv / 8][4] = {};
    multiply_transposed<Number, 0, d / 16>(S_reg, Walk<QTile, Order::rows_first>(Q_smem, warp_row),
                                           Walk<KTile, Order::cols_first>(K_smem, 0));
    if (j >= tiles.whole) mask_scores(S_reg, problem, block.first_row + warp_row, j * rows_kv);
    softmax.step(S_reg, O_reg, args.scale * log2_e);
    const Walk<KTile, Order::rows_first> V_walk(V_smem, 0);
#pragma unroll
    for (int k = 0; k < rows_kv / 16; ++k) {
      std::uint32_t P_reg[patches][4];
      pack_columns<Number>(P_reg, S_reg, k);
      multiply<Number>(O_reg, P_reg, V_walk, k * 16);
    }
    __syncthreads();  // every warp is done with K_j and V_j, before the next tile overwrites them
  }

  softmax.finish(problem, block.first_row + warp_row, args.scale, block.lse());
  cp_async_wait<0>();
  __syncthreads();  // Q has landed even where no key was seen: O takes its place now
  store_rows<Number>(Q_smem, warp_row, 0, O_reg, softmax.l, block.O(), args.o.row_stride, block.first_row, problem.n_q,
                     problem.d);
}

template <class Config>
void launch_flash2_swizzle(const Args& args) {
  launch(flash2_swizzle<Config>, query_grid(args.problem, Config::tiling.rows_q), 32 * Config::warps,
         Flash2Swizzle<Config>::shared_memory, args);
}

}  // namespace fa::kernels

// FlashAttention-2, forward, step 1: the algorithm, with nothing that hides time.
//
// One thread block owns one tile of Q and of O.
//
//            K, V   [n_kv, d]                     shared     Q_i (rows_q × d), K_j, V_j (rows_kv × d)
//           ┌─────┬─────┬─────┬──                registers  S, then P, and m, l, O of the warp's rows
//           │     │ j   │     │  ◀── streamed,   warps      4, split over Q: each owns rows_q / 4 rows and all keys,
//  Q  ┌───┐ └─────┴─────┴─────┴──   last first              so no warp ever waits for another's numbers
//     │ i │   S = Q_i K_jᵀ    P = exp(S − m)    O_i = O_i · exp(m_old − m) + P V_j
//     └───┘                                     [FA-2, Algorithm 1; §3.3 for the warps]
//
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128, rows_q = 128: 65 MiB read and 1 MiB written per head.
//
// P never leaves the registers: the accumulator of the first product is the operand of the second (device/ptx.cuh).
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/query_block.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/flash2/config.h"

namespace fa::kernels {

template <class Config>
struct Flash2Baseline {
  using QTile = SmemTile<Config::tiling.rows_q, Config::d, Layout::plain>;
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d, Layout::plain>;  // and V's
  static constexpr int shared_memory = QTile::bytes + 2 * KTile::bytes;
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps, Config::blocks_per_sm)
    flash2_baseline(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  using QTile = typename Flash2Baseline<Config>::QTile;
  using KTile = typename Flash2Baseline<Config>::KTile;
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
void launch_flash2_baseline(const Args& args) {
  launch(flash2_baseline<Config>, query_grid(args.problem, Config::tiling.rows_q), 32 * Config::warps,
         Flash2Baseline<Config>::shared_memory, args);
}

}  // namespace fa::kernels

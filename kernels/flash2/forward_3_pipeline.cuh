// FlashAttention-2, forward, step 3: the next K, V tiles arrive while this one is computed.
//
// As step 2. What changed: K and V have two stages each, and a tile takes one barrier instead of two.
//
//   barrier     stage 0          stage 1
//      │   compute tile j    copy tile j−1 ──▶
//      │   copy tile j−2 ──▶ compute tile j−1        the barrier before tile j−1 says two things: its copies have
//      ▼   compute tile j−2  …                       landed, and all warps have left the stage that is filled next
//
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128, rows_q = 128: 65 MiB read and 1 MiB written per head.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/query_block.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/flash2/config.h"

namespace fa::kernels {

template <class Config>
struct Flash2Pipeline {
  using QTile = SmemTile<Config::tiling.rows_q, Config::d>;
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d>;  // and V's
  static constexpr int stages = 2;
  static constexpr int shared_memory = QTile::bytes + 2 * stages * KTile::bytes;
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps, Config::blocks_per_sm)
    flash2_pipeline(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  using QTile = typename Flash2Pipeline<Config>::QTile;
  using KTile = typename Flash2Pipeline<Config>::KTile;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
  constexpr int threads = 32 * Config::warps, warp_rows = rows_q / Config::warps, patches = warp_rows / 16;

  extern __shared__ __align__(1024) unsigned char shared[];
  const QTile Q_smem{smem_address(shared)};
  auto K_smem = [&](int stage) { return KTile{Q_smem.base + QTile::bytes + 2 * stage * KTile::bytes}; };
  auto V_smem = [&](int stage) { return KTile{Q_smem.base + QTile::bytes + (2 * stage + 1) * KTile::bytes}; };

  const Problem& problem = args.problem;
  const QueryBlock<Number> block(args, rows_q);
  const Number *K = block.K(), *V = block.V();
  const KeyTiles tiles = key_tiles<rows_kv>(problem, block.first_row, rows_q);
  const int warp_row = threadIdx.x / 32 * warp_rows;

  float O_reg[patches][d / 8][4] = {};
  OnlineSoftmax<patches> softmax;

  const Walk<QTile, Order::rows_first> Q_walk(Q_smem, warp_row);

  auto load = [&](auto whole, int j, int stage) {
    copy_tile<threads, whole.value>(K_smem(stage), K, args.k.row_stride, j * rows_kv, problem.n_kv, problem.d);
    copy_tile<threads, whole.value>(V_smem(stage), V, args.v.row_stride, j * rows_kv, problem.n_kv, problem.d);
    cp_async_commit();
  };
  int stage = 0;
  copy_tile<threads, false>(Q_smem, block.Q(), args.q.row_stride, block.first_row, problem.n_q, problem.d);
  cp_async_commit();
  if (tiles.all > 0) load(std::false_type{}, tiles.all - 1, 0);
  for (int j = tiles.all - 1; j >= 0; --j) {
    cp_async_wait<0>();
    __syncthreads();  // tile j has landed for all; all have left tile j + 1, whose stage is filled next
    if (j > 0) load(std::true_type{}, j - 1, stage ^ 1);  // only the last tile, which comes first, can be ragged

    float S_reg[patches][rows_kv / 8][4] = {};
    multiply_transposed<Number, 0, d / 16>(S_reg, Q_walk, Walk<KTile, Order::cols_first>(K_smem(stage), 0));
    if (j >= tiles.whole) mask_scores(S_reg, problem, block.first_row + warp_row, j * rows_kv);
    softmax.step(S_reg, O_reg, args.scale * log2_e);
    const Walk<KTile, Order::rows_first> V_walk(V_smem(stage), 0);
#pragma unroll
    for (int k = 0; k < rows_kv / 16; ++k) {
      std::uint32_t P_reg[patches][4];
      pack_columns<Number>(P_reg, S_reg, k);
      multiply<Number>(O_reg, P_reg, V_walk, k * 16);
    }
    stage ^= 1;
  }

  softmax.finish(problem, block.first_row + warp_row, args.scale, block.lse());
  cp_async_wait<0>();
  __syncthreads();  // Q has landed even where no key was seen: O takes its place now
  store_rows<Number>(Q_smem, warp_row, 0, O_reg, softmax.l, block.O(), args.o.row_stride, block.first_row, problem.n_q,
                     problem.d);
}

template <class Config>
void launch_flash2_pipeline(const Args& args) {
  launch(flash2_pipeline<Config>, query_grid(args.problem, Config::tiling.rows_q), 32 * Config::warps,
         Flash2Pipeline<Config>::shared_memory, args);
}

}  // namespace fa::kernels

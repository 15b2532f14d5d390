// FlashAttention-3, forward, step 1: Hopper's own instructions, and nothing else.
//
//            K, V   [n_kv, d]                    shared      Q_i (64 × d), two K_j and two V_j (rows_kv × d)
//           ┌─────┬─────┬─────┬──               registers   S, P, m, l, O_i
//           │     │ j   │ j+1 │  ◀── streamed,  warpgroup   one of 4 warps; each warp owns 16 rows and all keys
//  Q  ┌───┐ └─────┴─────┴─────┴──   last first
//     │ i │   S = Q_i K_jᵀ    P = exp(S − m)    O_i = O_i · f + P V_j
//     └───┘                                     [FA-2, Algorithm 1]
//
// - wgmma multiplies for a whole warpgroup, out of shared memory: no ldmatrix, and the sums alone pass through registers.
// - TMA copies a tile on one thread's word, swizzles it as wgmma wants it, and fills with zeros beyond the tensor; an
//   mbarrier says when it has landed.
//
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / 64⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128: 129 MiB read and 1 MiB written per head.
//
// Since flash2: the instructions. The products and the softmax still wait for each other, and so do copies: a block barrier
// stands between the use of a buffer and its next copy.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/flash3/block.cuh"

namespace fa::kernels {

template <class Config>
__global__ void __launch_bounds__(warpgroup_threads)
    flash3_wgmma(const __grid_constant__ Args args, const __grid_constant__ TensorMaps maps) {
  using Number = typename Config::Number;
  using Shared = Flash3Shared<Config>;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
  static_assert(rows_q == warpgroup_rows && Config::tiling.stages == 2);

  extern __shared__ __align__(1024) unsigned char memory[];
  const Shared shared{smem_address(memory)};
  shared.init();

  const Problem& problem = args.problem;
  const TileOrder::Tile tile = tile_of_block(problem, rows_q);
  const int warp_row = tile.first_row + threadIdx.x / 32 * 16;
  const int kv_head = tile.head / (problem.heads / problem.kv_heads);
  const KeyTiles tiles = key_tiles<rows_kv>(problem, tile.first_row, rows_q);
  const float c = args.scale * log2_e;

  auto Q_ring = shared.Q_ring();
  auto K_ring = shared.K_ring(), V_ring = shared.V_ring(), next_K = K_ring, next_V = V_ring;
  const std::uint64_t keep = l2_keep();
  const auto load = [&](int j) {  // by one thread
    start_tile(shared.K(next_K.stage), maps.k, next_K, j * rows_kv, kv_head, tile.batch, keep);
    start_tile(shared.V(next_V.stage), maps.v, next_V, j * rows_kv, kv_head, tile.batch, keep);
  };
  if (threadIdx.x == 0) {
    start_tile(shared.Q(0), maps.q, Q_ring, tile.first_row, tile.head, tile.batch, l2_give_up());
    if (tiles.all > 0) load(tiles.all - 1);
  }

  float S_reg[1][rows_kv / 8][4], O_reg[1][d / 8][4] = {}, factor[2];
  std::uint32_t P_reg[rows_kv / 16][1][4];
  LazySoftmax<Number> softmax;
  shared.Q_ring().wait_full();
  for (int j = tiles.all - 1; j >= 0; --j) {
    if (threadIdx.x == 0 && j > 0) load(j - 1);

    K_ring.wait_full();
    start_scores(S_reg, shared.Q(0), 0, shared.K(K_ring.stage));
    wgmma_wait<0>();
    pin(S_reg[0]);
    K_ring.advance();
    if (j >= tiles.whole) mask_scores(S_reg, problem, warp_row, j * rows_kv);
    if (softmax.subtract(S_reg, c, factor)) rescale(O_reg, factor);
    softmax.exponentials(S_reg);
    pack_scores<Number>(P_reg, S_reg);

    V_ring.wait_full();
    start_weighing(O_reg, P_reg, shared.V(V_ring.stage));
    wgmma_wait<0>();
    pin(O_reg[0]);
    V_ring.advance();
    __syncthreads();  // all warps are done with K_j and V_j, whose places the tile after the next takes
  }

  softmax.finish(problem, warp_row, lse_of(args, tile));
  OutgoingTile<Config> outgoing;
  outgoing.send(O_reg, softmax.l, maps.o, shared.Q(0), 0, tile, shared.Q_ring().empty());
  outgoing.let_go();
}

template <class Config>
void launch_flash3_wgmma(const Args& args) {
  constexpr Tiling tiling = Config::tiling;
  launch(flash3_wgmma<Config>, query_grid(args.problem, tiling.rows_q), warpgroup_threads, Flash3Shared<Config>::bytes,
         args, tensor_maps(args, tiling.rows_q, tiling.rows_kv, warpgroup_rows));
}

}  // namespace fa::kernels

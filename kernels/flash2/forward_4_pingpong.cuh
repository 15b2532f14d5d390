// FlashAttention-2, forward, step 4: two groups of warps take turns at the tensor cores.
//
// In step 3 the warps that share a tensor core tend to multiply together and then all wait for their exponentials
// together: on an H200 a tile took its products' time plus its softmax's. Here a block has two groups of 4 warps, each
// with its own half of the Q tile and one warp per tensor core, and they alternate:
//
//   group 0   O += P V_{t-1} │ S = Q K_tᵀ │ softmax of t     │ O += P V_t │ …
//   group 1                        …      │ O += P V_{t-1} │ S = Q K_tᵀ │ softmax of t │ …
//                              ▲ the turn passes in the middle of S: overlapping turns hide the latency of ldmatrix
//
//  Both groups read the same K, V tiles, so a tile serves twice as many queries as in step 3: half the reads.
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128, rows_q = 256: 33 MiB read and 1 MiB written per head.
//
// The idea is FA-3's ping-pong schedule [FA-3 §3.1], with FA-2's instructions: it needs nothing but sm_80. It is published
// for d 64 and d 256; at d 128, step 3 does as well (NOTES.md).
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/query_block.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/flash2/config.h"

namespace fa::kernels {

template <class Config>
struct Flash2PingPongShared {
  using QTile = SmemTile<Config::tiling.rows_q, Config::d>;
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d>;  // and V's
  // Tiles are copied `ahead` turns before they are needed: two, or one where the SRAM holds no more.
  static constexpr int ahead = Config::d <= 128 ? 2 : 1;
  // When a group's turn begins, the other may still read K of the turn before, but no longer V: one stage more for K.
  static constexpr int K_stages = ahead + 2;
  static constexpr int V_stages = ahead + 1;
  static constexpr int bytes = QTile::bytes + (K_stages + V_stages) * KTile::bytes;
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps, 1) flash2_pingpong(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  using Shared = Flash2PingPongShared<Config>;
  using QTile = typename Shared::QTile;
  using KTile = typename Shared::KTile;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv, ahead = Shared::ahead;
  constexpr int threads = 32 * Config::warps, warp_rows = rows_q / Config::warps, patches = warp_rows / 16;

  extern __shared__ __align__(1024) unsigned char shared[];
  const QTile Q_smem{smem_address(shared)};
  auto K_smem = [&](int t) { return KTile{Q_smem.base + QTile::bytes + t % Shared::K_stages * KTile::bytes}; };
  auto V_smem = [&](int t) {
    return KTile{Q_smem.base + QTile::bytes + (Shared::K_stages + t % Shared::V_stages) * KTile::bytes};
  };

  const Problem& problem = args.problem;
  const QueryBlock<Number> block(args, rows_q);
  const Number *K = block.K(), *V = block.V();
  const int warp = threadIdx.x / 32, warp_row = warp * warp_rows;
  const int group = warp / (Config::warps / 2);
  const int group_row = block.first_row + group * (rows_q / 2);
  // Turn t of both groups is tile turns − 1 − t. A group has nothing to do in its first turns, if its rows see fewer keys.
  const int turns = key_tiles<rows_kv>(problem, block.first_row, rows_q).all;
  const KeyTiles mine = key_tiles<rows_kv>(problem, group_row, rows_q / 2);
  const int first_turn = turns - mine.all;

  float S_reg[patches][rows_kv / 8][4], O_reg[patches][d / 8][4] = {};
  OnlineSoftmax<patches> softmax;

  const Walk<QTile, Order::rows_first> Q_walk(Q_smem, warp_row);
  // Only the last tile, which comes first, can be ragged.
  auto load_K = [&](auto whole, int t) {
    copy_tile<threads, whole.value>(K_smem(t), K, args.k.row_stride, (turns - 1 - t) * rows_kv, problem.n_kv,
                                    problem.d);
  };
  auto load_V = [&](auto whole, int t) {
    copy_tile<threads, whole.value>(V_smem(t), V, args.v.row_stride, (turns - 1 - t) * rows_kv, problem.n_kv,
                                    problem.d);
  };

  copy_tile<threads, false>(Q_smem, block.Q(), args.q.row_stride, block.first_row, problem.n_q, problem.d);
  if (turns > 0) load_K(std::false_type{}, 0);
  cp_async_commit();
  if (ahead == 2) {
    if (turns > 0) load_V(std::false_type{}, 0);
    if (turns > 1) load_K(std::true_type{}, 1);
    cp_async_commit();
  }
  cp_async_wait<ahead - 1>();
  __syncthreads();  // Q and the first K are there for all

  // Barrier 1 + g opens group g's turn: g's threads wait at it, the other group's arrive. Its three promises: the other
  // group is out of all K but its newest and out of all V; its copies for this turn have landed; and the tensor cores
  // are free enough.
  const int my_turn = 1 + group, other_turn = 2 - group;
  auto pass_turn = [&] {
    cp_async_wait<ahead - 1>();  // this thread's part of what the next turns read
    barrier_arrive(other_turn, threads);
  };
  if (group == 1 && turns > 0) barrier_arrive(other_turn, threads);  // group 0 begins

  for (int t = 0; t <= turns && turns > 0; ++t) {
    barrier_sync(my_turn, threads);
    if (t + ahead < turns) load_K(std::true_type{}, t + ahead);
    if (ahead == 1 && t == 0)
      load_V(std::false_type{}, 0);
    else if (t + ahead - 1 < turns)
      load_V(std::true_type{}, t + ahead - 1);
    cp_async_commit();

    if (t > first_turn) {  // O += P V of the turn before
      const Walk<KTile, Order::rows_first> V_walk(V_smem(t - 1), 0);
#pragma unroll
      for (int k = 0; k < rows_kv / 16; ++k) {
        std::uint32_t P_reg[patches][4];
        pack_columns<Number>(P_reg, S_reg, k);
        multiply<Number>(O_reg, P_reg, V_walk, k * 16);
      }
    }
    if (t == turns) {
      if (group == 0) pass_turn();
      break;
    }
    if (t < first_turn) {
      pass_turn();
      continue;
    }
    clear(S_reg);
    const Walk<KTile, Order::cols_first> K_walk(K_smem(t), 0);
    multiply_transposed<Number, 0, d / 32>(S_reg, Q_walk, K_walk);
    pass_turn();
    multiply_transposed<Number, d / 32, d / 16>(S_reg, Q_walk, K_walk);

    const int j = turns - 1 - t;
    if (j >= mine.whole) mask_scores(S_reg, problem, block.first_row + warp_row, j * rows_kv);
    softmax.step(S_reg, O_reg, args.scale * log2_e);
  }

  softmax.finish(problem, block.first_row + warp_row, args.scale, block.lse());
  // O takes the place of Q: each warp overwrites only its own rows, which no other warp reads.
  store_rows<Number>(Q_smem, warp_row, 0, O_reg, softmax.l, block.O(), args.o.row_stride, block.first_row, problem.n_q,
                     problem.d);
}

template <class Config>
void launch_flash2_pingpong(const Args& args) {
  launch(flash2_pingpong<Config>, query_grid(args.problem, Config::tiling.rows_q), 32 * Config::warps,
         Flash2PingPongShared<Config>::bytes, args);
}

}  // namespace fa::kernels

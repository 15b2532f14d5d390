// FlashAttention-3, forward, step 5: a block stays on its SM and takes one tile of Q after another.
//
//            K, V   [n_kv, d]                    shared      Q_i of this tile and the next │ rings of K_j and V_j
//           ┌─────┬─────┬─────┬──               registers   S, P, m, l, O_i of each consumer's 64 rows
//           │ j   │ j−1 │ j−2 │  ──▶ streamed,  producer    one thread: K, Q, V of one tile after another,
//  Q  ┌───┐ └─────┴─────┴─────┴──   last first              as far ahead as there are buffers
//     │ i │   S = Q_i K_jᵀ    P = exp(S − m)    consumers   2 or 3 warpgroups; O leaves through the place of Q_i
//     └───┘   O_i = O_i · f + P V_j                         while the products of the next tile begin
//
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128, rows_q = 128: 65 MiB read and 1 MiB written per head.
//
// Since step 4:
// - The prologue of a tile (its first copies) and its epilogue run beside the products of its neighbours.
// - Under a causal mask tiles differ in length: the longest go first, and a block that is free takes the next
//   (device/tile_order.cuh).
// - A consumer leaves out tiles that none of its own rows sees, and those of rows past the last query.   [FA-3 §3, FA-4 §3.3]
#pragma once

#include "kernels/device/launch.h"
#include "kernels/flash3/block.cuh"

namespace fa::kernels {

template <class Config>
__device__ __forceinline__ void flash3_produce(const Args& args, const TensorMaps& maps, const TileOrder& order,
                                               const Flash3Shared<Config>& shared) {
  Flash3Producer<Config> producer{args, maps, shared};
  for (int index = blockIdx.x, next; index < order.tiles(); index = next) {
    next = order.next(index);  // asked for early: the answer takes a microsecond
    producer.load(order.at(index));
  }
  producer.finish();
}

// One warpgroup: its 64 rows of each tile of Q.
template <class Config>
__device__ __forceinline__ void flash3_consume(const Args& args, const TensorMaps& maps,
                                               const Flash3Shared<Config>& shared, int consumer) {
  using Number = typename Config::Number;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
  const Problem& problem = args.problem;
  const float c = args.scale * log2_e;
  const int my_row = consumer * warpgroup_rows;  // in the tile

  auto Q_ring = shared.Q_ring();
  auto K_ring = shared.K_ring(), V_ring = shared.V_ring();
  const Turns<Config> turns(consumer);

  float S_reg[1][rows_kv / 8][4], O_reg[1][d / 8][4], factor[2];
  std::uint32_t P_reg[rows_kv / 16][1][4];
  OutgoingTile<Config> outgoing;

  while (true) {
    Q_ring.wait_full();
    const TileOrder::Tile tile = shared.announced(Q_ring.stage);
    if (!tile.exists()) break;
    const auto Q_smem = shared.Q(Q_ring.stage);
    const int first_row = tile.first_row + my_row;
    const int warp_row = first_row + threadIdx.x % warpgroup_threads / 32 * 16;
    const KeyTiles mine =
        first_row < problem.n_q ? key_tiles<rows_kv>(problem, first_row, warpgroup_rows) : KeyTiles{0, 0};
    int j = key_tiles<rows_kv>(problem, tile.first_row, rows_q).all - 1;
    LazySoftmax<Number> softmax;
    clear(O_reg);

    // Tiles that others of the block need, but not these rows. Turns are taken as often as the others take them.
    for (; j >= mine.all; --j) {
      if (j > 0) turns.wait(), turns.pass();
      K_ring.wait_full();
      K_ring.give_back();
      V_ring.wait_full();
      V_ring.give_back();
    }

    if (j >= 0) {
      // S of tile j has been issued; it becomes P. True if O must be multiplied by `factor`.
      const auto softmax_of_scores = [&](auto masked) {
        pin(S_reg[0]);
        K_ring.give_back();
        if (masked && j >= mine.whole) mask_scores(S_reg, problem, warp_row, j * rows_kv);
        const bool moved = softmax.subtract(S_reg, c, factor);
        softmax.exponentials(S_reg);
        pin(S_reg[0]);
        return moved;
      };
      K_ring.wait_full();
      start_scores(S_reg, Q_smem, my_row, shared.K(K_ring.stage));
      outgoing.let_go();  // O of the tile before has left by now
      wgmma_wait<0>();
      softmax_of_scores(std::true_type{});
      pack_scores<Number>(P_reg, S_reg);

      // S of tile j and O of tile j + 1 are in flight together; the softmax of j runs under the latter.
      const auto step = [&](auto masked) {
        K_ring.wait_full();
        turns.wait();
        start_scores(S_reg, Q_smem, my_row, shared.K(K_ring.stage));
        V_ring.wait_full();
        start_weighing(O_reg, P_reg, shared.V(V_ring.stage));
        turns.pass();
        wgmma_wait<1>();
        const bool moved = softmax_of_scores(masked);
        wgmma_wait<0>();
        pin(O_reg[0]);
        V_ring.give_back();
        pack_scores<Number>(P_reg, S_reg);  // into registers that the product with V was reading until now
        if (moved) rescale(O_reg, factor);
      };
      for (--j; j >= mine.whole; --j) step(std::true_type{});
      for (; j >= 0; --j) step(std::false_type{});

      V_ring.wait_full();
      start_weighing(O_reg, P_reg, shared.V(V_ring.stage));
      wgmma_wait<0>();
      pin(O_reg[0]);
      V_ring.give_back();
    }

    softmax.finish(problem, warp_row, lse_of(args, tile));
    outgoing.let_go();
    outgoing.send(O_reg, softmax.l, maps.o, Q_smem, my_row, tile, Q_ring.empty());
    if (Config::q_stages == 1) outgoing.let_go();  // nothing comes into Q's place before
    Q_ring.advance();
  }
  outgoing.let_go();  // shared memory ends with the block
}

template <class Config>
__global__ void __launch_bounds__(Flash3Threads<Config>::all, 1)
    flash3_persistent(const __grid_constant__ Args args, const __grid_constant__ TensorMaps maps,
                      const __grid_constant__ TileOrder order) {
  using Threads = Flash3Threads<Config>;
  extern __shared__ __align__(1024) unsigned char memory[];
  const Flash3Shared<Config> shared{smem_address(memory)};
  shared.init();
  const int warpgroup = first_lane(threadIdx.x / warpgroup_threads);
  if (warpgroup == 0) {
    keep_registers<Threads::producer_registers>();
    if (threadIdx.x < 32 && elect_one()) flash3_produce<Config>(args, maps, order, shared);
  } else {
    take_registers<Threads::consumer_registers>();
    flash3_consume<Config>(args, maps, shared, warpgroup - 1);
  }
}

template <class Config>
void launch_flash3_persistent(const Args& args) {
  constexpr Tiling tiling = Config::tiling;
  const TileOrder order = tile_order(args, tiling.rows_q);
  static const int multiprocessors = current_device().multiprocessors;
  launch(flash3_persistent<Config>, dim3(std::min(order.tiles(), multiprocessors)), Flash3Threads<Config>::all,
         Flash3Shared<Config>::bytes, args, tensor_maps(args, tiling.rows_q, tiling.rows_kv, warpgroup_rows), order);
}

}  // namespace fa::kernels

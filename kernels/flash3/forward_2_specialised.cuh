// FlashAttention-3, forward, step 2: one warpgroup loads, the others compute.
//
//            K, V   [n_kv, d]                    shared      Q_i │ rings of K_j and of V_j
//           ┌─────┬─────┬─────┬──               registers   S, P, m, l, O_i of each consumer's 64 rows
//           │ j   │ j−1 │ j−2 │  ──▶ streamed,  producer    one thread: as far ahead as there are buffers
//  Q  ┌───┐ └─────┴─────┴─────┴──   last first  consumers   2 or 3 warpgroups, each for itself
//     │ i │
//     └───┘   producer   K_j ──▶ full ──▶ consumer   S = Q_i K_jᵀ ──▶ empty ──▶ producer   K_{j−2} …
//
//  HBM, numbers of 16 bits: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write n_q·d (and n_q LSE of 32 bits).
//  n = 4096, d = 128, rows_q = 128: 65 MiB read and 1 MiB written per head.
//
// Since step 1: no barrier of the whole block. A buffer is full or empty (device/ring.cuh), and whoever needs that waits for
// it alone. The consumers read the same K and V tiles, so a tile serves 128 or 192 queries. The producer gives up registers
// for the consumers: 24 or 32 of its threads', 240 or 160 of theirs.   [FA-3 §3.1]
#pragma once

#include "kernels/flash3/block.cuh"

namespace fa::kernels {

// One warpgroup: its 64 rows of the block's tile of Q.
struct Flash3Specialised {
  template <class Config>
  static __device__ __forceinline__ void consume(const Args& args, const TensorMaps& maps,
                                                 const Flash3Shared<Config>& shared, int consumer) {
    using Number = typename Config::Number;
    constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
    const Problem& problem = args.problem;
    const TileOrder::Tile tile = tile_of_block(problem, rows_q);
    const int my_row = consumer * warpgroup_rows;  // in the tile
    const int warp_row = tile.first_row + my_row + threadIdx.x % warpgroup_threads / 32 * 16;
    const int tiles = key_tiles<rows_kv>(problem, tile.first_row, rows_q).all;
    const int whole = visible_keys(problem, tile.first_row + my_row) / rows_kv;
    const float c = args.scale * log2_e;

    const auto Q_ring = shared.Q_ring();
    auto K_ring = shared.K_ring(), V_ring = shared.V_ring();
    const auto Q_smem = shared.Q(0);
    float S_reg[1][rows_kv / 8][4], O_reg[1][d / 8][4] = {}, factor[2];
    std::uint32_t P_reg[rows_kv / 16][1][4];
    LazySoftmax<Number> softmax;

    Q_ring.wait_full();
    for (int j = tiles - 1; j >= 0; --j) {
      K_ring.wait_full();
      start_scores(S_reg, Q_smem, my_row, shared.K(K_ring.stage));
      wgmma_wait<0>();
      pin(S_reg[0]);
      K_ring.give_back();
      if (j >= whole) mask_scores(S_reg, problem, warp_row, j * rows_kv);
      if (softmax.subtract(S_reg, c, factor)) rescale(O_reg, factor);
      softmax.exponentials(S_reg);
      pack_scores<Number>(P_reg, S_reg);

      V_ring.wait_full();
      start_weighing(O_reg, P_reg, shared.V(V_ring.stage));
      wgmma_wait<0>();
      pin(O_reg[0]);
      V_ring.give_back();
    }

    softmax.finish(problem, warp_row, lse_of(args, tile));
    OutgoingTile<Config> outgoing;
    outgoing.send(O_reg, softmax.l, maps.o, Q_smem, my_row, tile, Q_ring.empty());
    outgoing.let_go();
  }
};

}  // namespace fa::kernels

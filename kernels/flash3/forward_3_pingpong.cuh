// FlashAttention-3, forward, step 3: the consumers take turns at the tensor cores (ping-pong).
//
//   consumer 0   O += P V_{j+1} │ S = Q K_jᵀ │ softmax of j               │ O += P V_j │ S = …
//   consumer 1                               │ O += P V_{j+1} │ S = Q K_jᵀ │ softmax of j │ …
//
// Left alone, consumers tend to multiply together and then to wait for their exponentials together. Here a consumer issues
// its products only when the one before it has issued its own: one's softmax falls under another's products.
//
// Since step 2: turns; and the product with V waits for the next turn, so that a turn holds both products.   [FA-3 §3.1]
#pragma once

#include "kernels/flash3/block.cuh"

namespace fa::kernels {

// One warpgroup: its 64 rows of the block's tile of Q.
struct Flash3PingPong {
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
    const Turns<Config> turns(consumer);
    float S_reg[1][rows_kv / 8][4], O_reg[1][d / 8][4] = {}, factor[2];
    std::uint32_t P_reg[rows_kv / 16][1][4];
    LazySoftmax<Number> softmax;

    Q_ring.wait_full();
    for (int j = tiles - 1; j >= 0; --j) {
      turns.wait();
      if (j < tiles - 1) {
        V_ring.wait_full();
        start_weighing(O_reg, P_reg, shared.V(V_ring.stage));
      }
      K_ring.wait_full();
      start_scores(S_reg, Q_smem, my_row, shared.K(K_ring.stage));
      turns.pass();
      wgmma_wait<0>();
      pin(S_reg[0]);
      pin(O_reg[0]);
      if (j < tiles - 1) V_ring.give_back();
      K_ring.give_back();
      if (j >= whole) mask_scores(S_reg, problem, warp_row, j * rows_kv);
      if (softmax.subtract(S_reg, c, factor)) rescale(O_reg, factor);
      softmax.exponentials(S_reg);
      pack_scores<Number>(P_reg, S_reg);
    }
    if (tiles > 0) {
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

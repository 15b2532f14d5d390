// FlashAttention-3, forward, step 4: a consumer's softmax runs under its own product as well.
//
//   tensor cores   S = Q K_jᵀ │ O += P V_{j+1}             │ S = Q K_{j−1}ᵀ │ O += P V_j …
//   consumer                  │ softmax of S_j ──▶ P in fp32 │ pack P, rescale O
//
// S of tile j and O of tile j + 1 are in flight together. S, P and O are live at once: 160 of 240 registers at d 128 with
// 128 keys. P is packed once the product that reads the old one is over.
//
// Since step 3: the order of the two products, and waiting for the first of them alone. Tiles that need a mask have a loop
// of their own.   [FA-3 §3.2, Algorithm 2]
#pragma once

#include "kernels/flash3/block.cuh"

namespace fa::kernels {

// One warpgroup: its 64 rows of the block's tile of Q.
struct Flash3Overlap {
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
    int j = tiles - 1;
    if (j >= 0) {
      // S of tile j has been issued; it becomes P. True if O must be multiplied by `factor`.
      const auto softmax_of_scores = [&](auto masked) {
        pin(S_reg[0]);
        K_ring.give_back();
        if (masked && j >= whole) mask_scores(S_reg, problem, warp_row, j * rows_kv);
        const bool moved = softmax.subtract(S_reg, c, factor);
        softmax.exponentials(S_reg);
        pin(S_reg[0]);
        return moved;
      };

      K_ring.wait_full();
      start_scores(S_reg, Q_smem, my_row, shared.K(K_ring.stage));
      wgmma_wait<0>();
      softmax_of_scores(std::true_type{});
      pack_scores<Number>(P_reg, S_reg);

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
      for (--j; j >= whole; --j) step(std::true_type{});
      for (; j >= 0; --j) step(std::false_type{});

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

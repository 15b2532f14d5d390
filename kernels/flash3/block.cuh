// What the warp-specialised kernels of this folder share: how a block divides its shared memory, barriers and registers,
// whose turn it is, and the two ends of the pipeline: a tile comes in, O goes out.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/lazy_softmax.cuh"
#include "kernels/device/multiply.cuh"
#include "kernels/device/query_block.cuh"
#include "kernels/device/ring.cuh"
#include "kernels/device/tile_order.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/device/warpgroup.cuh"
#include "kernels/flash3/config.h"
#include "kernels/host/tensor_map.h"

namespace fa::kernels {

// Shared memory from a multiple of 1024 on: tiles, then barriers.
template <class Config>
struct Flash3Shared {
  using Number = typename Config::Number;
  static constexpr Tiling tiling = Config::tiling;
  static constexpr int stages = tiling.stages, q_stages = Config::q_stages;
  using QTile = PanelTile<Number, tiling.rows_q, Config::d>;   // and O's, in its place
  using KTile = PanelTile<Number, tiling.rows_kv, Config::d>;  // and V's
  using QRing = Ring<q_stages>;
  using KRing = Ring<stages>;  // and V's

  static constexpr int K_at = q_stages * QTile::bytes, V_at = K_at + stages * KTile::bytes;
  static constexpr int Q_barriers_at = V_at + stages * KTile::bytes;
  static constexpr int K_barriers_at = Q_barriers_at + QRing::bytes, V_barriers_at = K_barriers_at + KRing::bytes;
  static constexpr int announced_at = (V_barriers_at + KRing::bytes + 15) / 16 * 16;
  static constexpr int bytes = announced_at + q_stages * 16;

  std::uint32_t base;

  __device__ __forceinline__ QTile Q(int stage) const { return {base + stage * QTile::bytes}; }
  __device__ __forceinline__ KTile K(int stage) const { return {base + K_at + stage * KTile::bytes}; }
  __device__ __forceinline__ KTile V(int stage) const { return {base + V_at + stage * KTile::bytes}; }
  __device__ __forceinline__ QRing Q_ring() const { return {base + Q_barriers_at}; }
  __device__ __forceinline__ KRing K_ring() const { return {base + K_barriers_at}; }
  __device__ __forceinline__ KRing V_ring() const { return {base + V_barriers_at}; }

  // Which tile of Q is in a stage. Travels with it, under its barriers: the producer writes before it says that Q comes.
  __device__ __forceinline__ void announce(int stage, const TileOrder::Tile& tile) const {
    const std::uint32_t at = base + announced_at + stage * 16;
    store_smem(at, tile.first_row);
    store_smem(at + 4, tile.batch);
    store_smem(at + 8, tile.head);
  }
  // The same in all lanes, and said to be so: what depends on it (loop counts, stages, addresses) then lives in registers
  // that the warp shares, as wgmma wants it.
  __device__ __forceinline__ TileOrder::Tile announced(int stage) const {
    uint4 tile{};
    // Lane 0 reads, as it is the one that later says that the place is empty: what it read comes before the next write.
    if (threadIdx.x % 32 == 0) tile = load_smem_16(base + announced_at + stage * 16);
    return {static_cast<int>(first_lane(tile.x)), static_cast<int>(first_lane(tile.y)),
            static_cast<int>(first_lane(tile.z))};
  }

  // By all threads; afterwards any may use the barriers.
  __device__ __forceinline__ void init() const {
    if (threadIdx.x == 0) {
      constexpr int consumer_warps = tiling.consumers * 4;
      Q_ring().init(consumer_warps);
      K_ring().init(consumer_warps);
      V_ring().init(consumer_warps);
      mbarrier_init_fence();
    }
    __syncthreads();
  }
};

// One warpgroup loads and needs few registers, the consumers share the rest of the SM's 64 K.
template <class Config>
struct Flash3Threads {
  static constexpr int consumers = Config::tiling.consumers;
  static_assert((consumers == 2 || consumers == 3) && Config::tiling.rows_each() == warpgroup_rows);
  static constexpr int all = warpgroup_threads * (1 + consumers);
  static constexpr int producer_registers = consumers == 2 ? 24 : 32;
  static constexpr int consumer_registers = consumers == 2 ? 240 : 160;
};

// Consumers take turns at issuing products, so that one's softmax runs under another's products (FA-3's ping-pong).
// Barrier 1 + c opens consumer c's turn: the one before it arrives, it waits.
template <class Config>
struct Turns {
  static constexpr int consumers = Config::tiling.consumers, threads = 2 * warpgroup_threads;
  int consumer;

  __device__ __forceinline__ explicit Turns(int consumer) : consumer(consumer) {
    if (consumer == consumers - 1) pass();  // consumer 0 begins
  }
  __device__ __forceinline__ void wait() const {
    if constexpr (Config::tiling.ping_pong) barrier_sync(1 + consumer, threads);
  }
  __device__ __forceinline__ void pass() const {
    if constexpr (Config::tiling.ping_pong) barrier_arrive(1 + (consumer == consumers - 1 ? 0 : consumer + 1), threads);
  }
};

// Starts the copy of a tile into the next buffer of a ring, which is empty.
template <class Tile, class Ring>
__device__ __forceinline__ void start_tile(const Tile& tile, const CUtensorMap& map, Ring& ring, int row, int head,
                                           int batch, std::uint64_t policy) {
  ring.expect(Tile::bytes);
  load_tile(tile, map, ring.full(), row, head, batch, policy);
  ring.advance();
}

// The producer: one thread.
template <class Config>
struct Flash3Producer {
  using Shared = Flash3Shared<Config>;
  const Args& args;
  const TensorMaps& maps;
  const Shared& shared;
  typename Shared::QRing Q_ring = shared.Q_ring();
  typename Shared::KRing K_ring = shared.K_ring(), V_ring = shared.V_ring();
  std::uint64_t keep = l2_keep(), give_up = l2_give_up();  // other blocks will read K and V again

  // A tile of Q, and the K, V tiles that it needs: last first, as far ahead as there are buffers.
  __device__ __forceinline__ void load(const TileOrder::Tile& tile) {
    constexpr int rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
    const int tiles = key_tiles<rows_kv>(args.problem, tile.first_row, rows_q).all;
    const int kv_head = tile.head / (args.problem.heads / args.problem.kv_heads);
    const auto load_K = [&](int j) {
      K_ring.wait_empty();
      start_tile(shared.K(K_ring.stage), maps.k, K_ring, j * rows_kv, kv_head, tile.batch, keep);
    };
    const auto load_V = [&](int j) {
      V_ring.wait_empty();
      start_tile(shared.V(V_ring.stage), maps.v, V_ring, j * rows_kv, kv_head, tile.batch, keep);
    };

    if (tiles > 0) load_K(tiles - 1);
    Q_ring.wait_empty();
    shared.announce(Q_ring.stage, tile);
    start_tile(shared.Q(Q_ring.stage), maps.q, Q_ring, tile.first_row, tile.head, tile.batch, give_up);
    for (int j = tiles - 1; j >= 0; --j) {
      if (j > 0) load_K(j - 1);
      load_V(j);
    }
  }
  // No tile comes any more.
  __device__ __forceinline__ void finish() {
    Q_ring.wait_empty();
    shared.announce(Q_ring.stage, TileOrder::none());
    Q_ring.expect(0);
  }
};

// A consumer's rows of O, on their way out through the place of its rows of Q, which no product reads any more.
template <class Config>
struct OutgoingTile {
  using QTile = typename Flash3Shared<Config>::QTile;
  std::uint32_t Q_empty = 0;  // the barrier of that place; 0: nothing is on its way

  // `factor`: per row. `empty`: the barrier that says so.
  template <int tiles>
  __device__ __forceinline__ void send(const float (&O)[1][tiles][4], const float (&factor)[1][2],
                                       const CUtensorMap& map, const QTile& Q, int my_row, const TileOrder::Tile& tile,
                                       std::uint32_t empty) {
    put_rows<typename Config::Number>(Q, my_row, O, factor);
    fence_async_proxy();
    // All of O is there before the copy engine reads it. Barriers 1 … consumers are the turns'.
    barrier_sync(1 + Config::tiling.consumers + my_row / warpgroup_rows, warpgroup_threads);
    if (sends()) {
#pragma unroll
      for (int p = 0; p < QTile::panels; ++p)
        tma_store(map, Q.panel(p) + my_row * 128, p * QTile::panel_cols, tile.first_row + my_row, tile.head,
                  tile.batch);
      tma_store_commit();
    }
    Q_empty = empty;
  }
  // Once it has left, its place is empty.
  __device__ __forceinline__ void let_go() {
    if (Q_empty == 0) return;
    if (sends()) tma_store_wait_read<0>();
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(Q_empty);
    Q_empty = 0;
  }

 private:
  static __device__ __forceinline__ bool sends() { return threadIdx.x % warpgroup_threads == 0; }
};

// P, packed as the A operand of the product with V.
template <class Number, int tiles, int steps>
__device__ __forceinline__ void pack_scores(std::uint32_t (&P)[steps][1][4], const float (&S)[1][tiles][4]) {
#pragma unroll
  for (int k = 0; k < steps; ++k) pack_columns<Number>(P[k], S, k);
}

// Steps 1 to 4 have one block per tile of Q. Grid: x = tiles of rows_q queries, y = heads, z = batch; causal blocks differ
// in length, and the longest start first.
__device__ __forceinline__ TileOrder::Tile tile_of_block(const Problem& problem, int rows_q) {
  const int x = problem.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  return {x * rows_q, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)};
}

// Steps 2 to 4: who does what. Step::consume is what the files of the steps are about.
template <class Step, class Config>
__global__ void __launch_bounds__(Flash3Threads<Config>::all, 1)
    flash3_step(const __grid_constant__ Args args, const __grid_constant__ TensorMaps maps) {
  using Threads = Flash3Threads<Config>;
  extern __shared__ __align__(1024) unsigned char memory[];
  const Flash3Shared<Config> shared{smem_address(memory)};
  shared.init();
  const int warpgroup = first_lane(threadIdx.x / warpgroup_threads);
  if (warpgroup == 0) {
    keep_registers<Threads::producer_registers>();
    if (threadIdx.x < 32 && elect_one())
      Flash3Producer<Config>{args, maps, shared}.load(tile_of_block(args.problem, Config::tiling.rows_q));
  } else {
    take_registers<Threads::consumer_registers>();
    Step::template consume<Config>(args, maps, shared, warpgroup - 1);
  }
}

template <class Step, class Config>
void launch_flash3_step(const Args& args) {
  constexpr Tiling tiling = Config::tiling;
  launch(flash3_step<Step, Config>, query_grid(args.problem, tiling.rows_q), Flash3Threads<Config>::all,
         Flash3Shared<Config>::bytes, args, tensor_maps(args, tiling.rows_q, tiling.rows_kv, warpgroup_rows));
}

__device__ __forceinline__ float* lse_of(const Args& args, const TileOrder::Tile& tile) {
  return args.lse + (static_cast<std::int64_t>(tile.batch) * args.problem.heads + tile.head) * args.problem.n_q;
}

}  // namespace fa::kernels

// FlashAttention-3, forward, in 8 bits: twice the multiply-adds per cycle, for operands that need care.
//
//            K, V   [n_kv, d] e4m3             shared      Q_i │ rings of K_j, V_j and V_jᵀ
//           ┌─────┬─────┬─────┬──              registers   S, P, m, l, T, O_i of each consumer's 64 rows
//           │ j   │ j−1 │ j−2 │  ──▶ streamed
//  Q  ┌───┐ └─────┴─────┴─────┴──              loader       one warp: starts the copies of Q, K and V (TMA)
//     │ i │  S = Q_i K_jᵀ                      transposers  three warps: V_j ──▶ V_jᵀ
//     └───┘  P = exp(S − m), in e4m3           consumers    2 or 3 warpgroups of 64 rows of Q
//            T = P V_j;  O = O·f + T
//
// 1. V is transposed on the way. In 8 bits wgmma takes both operands with their depth contiguous, and the depth of P V are
//    the keys. ldmatrix transposes pairs of bytes, a byte permutation splits the pairs, stmatrix writes the halves as rows
//    of their own:
//
//      32 keys of columns 2g, 2g+1   ──ldmatrix.trans──▶   lane 4g+t: (key, 2g) (key, 2g+1) of keys 2t, 2t+1, 8+2t, …
//                                    ──permute──▶          one word of column 2g, one of 2g+1: keys 2t, 2t+1, 8+2t, 9+2t
//                                    ──stmatrix──▶         rows g and 8+g of Vᵀ, word t
//
//    So word t of a row of Vᵀ holds keys 2t, 2t+1, 8+2t, 9+2t: those that lane t of a quad has in its accumulators S, in
//    its order. P needs no shuffle to become the A operand. And row 8·e + g of 16 is column 2g + e of V: an accumulator of
//    O holds columns 4t, 4t+2 and, in the next tile, 4t+1, 4t+3, four neighbours in one lane.
// 2. P = 2^4·exp(S − m). The 2^4 moves P up in the range of e4m3, from 2^−9 to 448; l carries it along. m is no longer the
//    maximum of all scores so far, but of those before it was last set: O / l is the same for any m. So a tile needs no
//    maximum over its scores, no shuffles, and its exponentials need not wait for them. Where a row outgrows m, which its
//    sums tell, the tile's scores are multiplied again and m rises: seldom, after the first tile.
// 3. The tensor cores add 8-bit products to about 14 bits. So a tile's product T is summed apart, and added to O in fp32:
//    its error does not grow with n.
// 4. Scales: those of Q and K join the softmax scale. That of V is folded into the factor of O, which holds O / v_j:
//    f = exp(m_old − m)·v_before / v_j, so scales cost one multiply-add per number, as no scales do.
// 5. Exponentials, not products, take longest: three consumers, each with its own phase, keep the exponential unit busier
//    than two in turns with more keys. A consumer leaves out tiles of keys that none of its own rows sees, and rows past
//    the last query.
// 6. What is the same for all lanes of a warp, stages, addresses and loop counts, comes from values that the compiler knows
//    to be so (by a shuffle or `redux`, once): then it costs no vector instruction, and no shuffle, in the loop.
//
//  HBM, bytes: read n_q·d + 2·n_kv·d·⌈n_q / rows_q⌉, write 2·n_q·d (and n_q LSE of 4 bytes).
//  n = 4096, d = 128, rows_q = 192: 22.5 MiB read and 1 MiB written per head.   [FA-3 §3.3]
#pragma once

#include <cuda_fp8.h>

#include <limits>

#include "kernels/device/launch.h"
#include "kernels/device/ring.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/device/tile_order.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/device/warpgroup.cuh"
#include "kernels/host/tensor_map.h"

namespace fa::kernels {

// What the kernel is compiled from. A type, because nvcc cannot name a Tiling in a kernel's name.
template <int d_>
struct Flash3Fp8 {
  static constexpr int d = d_;
  static constexpr Tiling tiling = flash3_fp8_tiling(d);
  static constexpr int loader_registers = d <= 64 ? 56 : d <= 128 ? 32 : 40;
  static constexpr int consumer_registers = d <= 64 ? 152 : d <= 128 ? 160 : 232;
  static constexpr int q_stages = d <= 128 ? 2 : 1;  // the next tile's Q lands while this one's is in use
  // Rows of so many tiles of keys are faster if the consumers begin a tile of Q together: by 2 % at n = 16k. Shorter ones lose
  // more by waiting for Q than they gain (NOTES_FP8.md).
  static constexpr int tiles_of_long_rows = d <= 64 ? 64 : std::numeric_limits<int>::max();
  // Columns of O whose product T is summed at once, and how many of those are in flight: as much as the place of S holds.
  static constexpr int slice = d <= 128 ? d : 64, slices_in_flight = d <= 128 ? 1 : 2;
};

template <class Config>
struct Fp8Shared {
  using Number = __nv_fp8_e4m3;
  static constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
  static constexpr int stages = Config::tiling.stages, q_stages = Config::q_stages;
  static constexpr int row = d < 128 ? 128 : d;  // a panel is 128 bytes wide: at d 64 half of it stays empty
  using QTile = PanelTile<Number, rows_q, row>;
  using KTile = PanelTile<Number, rows_kv, row>;  // and V's
  using VtTile = PanelTile<Number, d, (rows_kv + 127) / 128 * 128>;

  static constexpr int Q = 0, K = Q + q_stages * QTile::bytes, V = K + stages * KTile::bytes,
                       Vt = V + stages * KTile::bytes;
  static constexpr int barriers = Vt + stages * VtTile::bytes;
  // Of K, V, Vᵀ and Q; then which tiles Q holds, and the one before, which consumers store.
  static constexpr int announced = (barriers + 3 * Ring<stages>::bytes + Ring<q_stages>::bytes + 15) / 16 * 16;
  static constexpr int announcements = q_stages + 1;
  static constexpr int counted = announced + announcements * 16;  // how many tiles of keys each tile in Q needs
  static constexpr int bytes = counted + q_stages * 8;

  static constexpr int transposers = 3;  // warps
};

// A tile of Q, and the head of K and V that it needs.
struct Fp8Tile : TileOrder::Tile {
  int kv_head;
};

template <class Config>
struct Fp8Rings {
  using Shared = Fp8Shared<Config>;
  Ring<Shared::stages> K, V, Vt;
  Ring<Shared::q_stages> Q;
  std::uint32_t announcements, counts;
  int place = 0;  // of the announcement of the tile in Q

  __device__ __forceinline__ explicit Fp8Rings(std::uint32_t base)
      : K{base + Shared::barriers},
        V{K.barriers + K.bytes},
        Vt{V.barriers + V.bytes},
        Q{Vt.barriers + Vt.bytes},
        announcements(base + Shared::announced),
        counts(base + Shared::counted) {}

  __device__ __forceinline__ void init() const {
    constexpr int consumers = 4 * Config::tiling.consumers;  // warps
    K.init(consumers);
    V.init(Shared::transposers);
    Vt.init(consumers, Shared::transposers);
    Q.init(consumers + Shared::transposers);  // those who read which tile it is
  }

  // Which tile of Q comes. Travels with it, under its barriers.
  __device__ __forceinline__ void announce(const Fp8Tile& tile, int tiles_of_keys) const {
    const std::uint32_t at = announcements + place * 16;
    store_smem(at, tile.first_row);
    store_smem(at + 4, tile.batch);
    store_smem(at + 8, tile.head);
    store_smem(at + 12, tile.kv_head);
    store_smem(counts + Q.stage * 8, tiles_of_keys);
  }
  // Lane 0 reads it for its warp: it is the lane that releases Q, so a later announcement in this place comes after this
  // reading, as long as Q of the next tile has not been released. The results of `redux` are in registers that the warp
  // shares, and so is what depends on them.
  __device__ __forceinline__ Fp8Tile announced() const {
    uint4 tile{};
    if (threadIdx.x % 32 == 0) tile = load_smem_16(announcements + place * 16);
    return {{shared(tile.x), shared(tile.y), shared(tile.z)}, shared(tile.w)};
  }
  // How many tiles of keys it needs; −1: no tile comes any more.
  __device__ __forceinline__ int announced_tiles_of_keys() const {
    std::uint32_t tiles = 0;
    if (threadIdx.x % 32 == 0) tiles = load_smem(counts + Q.stage * 8);
    return shared(tiles);
  }
  __device__ __forceinline__ void next_tile() {
    Q.advance();
    if (++place == Shared::announcements) place = 0;
  }

 private:
  static __device__ __forceinline__ int shared(unsigned x) {
    return static_cast<int>(__reduce_max_sync(0xffffffff, x));
  }
};

// Loader: the tiles of Q that this block takes, and for each its keys, from the last tile to the first.
template <class Config>
__device__ __forceinline__ void load_fp8(const Args& args, const TensorMaps& maps, const TileOrder& order,
                                         std::uint32_t base) {
  using Shared = Fp8Shared<Config>;
  Fp8Rings<Config> rings(base);
  const Problem& problem = args.problem;
  int index = blockIdx.x;
  while (index < order.tiles()) {
    Fp8Tile tile{order.at(index), 0};
    const int next = order.next(index);  // asked for early: the answer takes a microsecond
    tile.kv_head = tile.head / (problem.heads / problem.kv_heads);
    const int tiles = key_tiles<Shared::rows_kv>(problem, tile.first_row, Shared::rows_q).all;
    // K and V go round together: before either is loaded, as many of the other have been.
    const auto load = [&](std::uint32_t barriers, int at, const CUtensorMap& map, int j) {
      const Ring<Shared::stages> ring{barriers, rings.K.stage, rings.K.parity};
      ring.wait_empty();
      ring.expect(Shared::KTile::bytes);
      load_tile(typename Shared::KTile{base + at + ring.stage * Shared::KTile::bytes}, map, ring.full(),
                j * Shared::rows_kv, tile.kv_head, tile.batch, l2_keep());
    };
    if (tiles > 0) load(rings.K.barriers, Shared::K, maps.k, tiles - 1);
    if (tiles >= Config::tiles_of_long_rows) {  // the Q before is done with, too
      auto next = rings.Q;
      next.advance();
      next.wait_empty();
    }
    rings.Q.wait_empty();
    rings.announce(tile, tiles);
    rings.Q.expect(Shared::QTile::bytes);
    load_tile(typename Shared::QTile{base + Shared::Q + rings.Q.stage * Shared::QTile::bytes}, maps.q, rings.Q.full(),
              tile.first_row, tile.head, tile.batch, l2_give_up());
    rings.next_tile();
#pragma unroll 1  // it has few registers
    for (int j = tiles - 1; j >= 0; --j) {
      load(rings.V.barriers, Shared::V, maps.v, j);
      rings.K.advance();
      if (j > 0) load(rings.K.barriers, Shared::K, maps.k, j - 1);
    }
    index = next;
  }
  rings.Q.wait_empty();
  rings.announce({TileOrder::none(), 0}, -1);  // the others leave
  mbarrier_arrive(rings.Q.full());
}

// Transposer: V_j ──▶ V_jᵀ, 32 keys × 16 columns at a time. Each warp takes its own columns, and all keys of them.
template <class Config>
__device__ __forceinline__ void transpose_fp8(std::uint32_t base) {
  using Shared = Fp8Shared<Config>;
  constexpr int key_groups = Shared::rows_kv / 32, column_groups = Shared::d / 16;
  Fp8Rings<Config> rings(base);
  const int warp = threadIdx.x / 32 - 1, lane = threadIdx.x % 32;
  for (;;) {
    rings.Q.wait_full();
    const int tiles = rings.announced_tiles_of_keys();
    if (tiles < 0) return;
    rings.Q.release();
    rings.next_tile();
    for (int j = 0; j < tiles; ++j) {
      const Ring<Shared::stages> Vt_ring{rings.Vt.barriers, rings.V.stage, rings.V.parity};  // they go round together
      rings.V.wait_full();
      Vt_ring.wait_empty();
      const typename Shared::KTile V{base + Shared::V + rings.V.stage * Shared::KTile::bytes};
      const typename Shared::VtTile Vt{base + Shared::Vt + Vt_ring.stage * Shared::VtTile::bytes};
      for (int c = warp; c < column_groups; c += Shared::transposers) {
        const std::uint32_t from = V.at(lane, c), to = Vt.at(16 * c + lane % 16, lane / 16);
#pragma unroll
        for (int k = 0; k < key_groups; k += 2) {
          std::uint32_t pairs[2][4];
#pragma unroll
          for (int i = 0; i < 2 && k + i < key_groups; ++i) ldmatrix_transposed(pairs[i], from + (k + i) * 32 * 128);
#pragma unroll
          for (int i = 0; i < 2 && k + i < key_groups; ++i) {
            const auto& [a, b, c, d] = pairs[i];
            stmatrix((to ^ ((k + i) % 4 * 32)) + (k + i) / 4 * Shared::VtTile::panel_bytes, __byte_perm(a, b, 0x6420),
                     __byte_perm(a, b, 0x7531), __byte_perm(c, d, 0x6420), __byte_perm(c, d, 0x7531));
          }
        }
      }
      fence_async_proxy();  // V has been read before the next copy writes it; Vᵀ is written before wgmma reads it
      __syncwarp();         // by all lanes
      rings.V.release();
      if (lane == 0) mbarrier_arrive(Vt_ring.full());
      rings.V.advance();
    }
  }
}

// The scales of one head's rows.
struct HeadScales {
  const float* scales;  // of the group of rows that was asked for last; null: all are 1
  int first, rows;      // its first row, and how many it has

  __device__ __forceinline__ HeadScales(const Scales& table, std::int64_t head, int n, int row)
      : scales(table.data), first(0), rows(table.rows) {
    if (scales == nullptr) return;
    scales += head * (n / rows + (n % rows != 0)) + row / rows;
    first = row / rows * rows;
  }
  __device__ __forceinline__ float here() const { return scales == nullptr ? 1.f : __ldg(scales); }
  // Of a row at or before the last one, in this group or the one before it: no division.
  __device__ __forceinline__ float back_to(int row) {
    if (scales != nullptr && row < first) first -= rows, --scales;
    return here();
  }
};

// m, in units of log2 and with all scales, and l of this lane's two rows. m is the maximum of the scores when it was last
// set: P = 2^offset · exp(S − m) and O / l are right for any m, as long as P stays below the end of e4m3. So m moves only
// when a row outgrows it, and a tile's scores need no maximum: their sum, which is taken anyway, tells.
struct Fp8Softmax {
  static constexpr float offset = 4;   // P starts at 16 or less
  static constexpr float limit = 448;  // of e4m3. No number is larger than the sum that it is in
  static constexpr float lowest = -0x1p127f;

  float m[2] = {lowest, lowest};  // finite, as −inf − (−inf) is NaN: rows that have seen no key then have P = l = 0
  float l[2] = {0, 0};

  // m rises to the largest score; `factor` is what O must be multiplied by.   c: log2 e and all scales of S, row by row.
  template <int tiles>
  __device__ __forceinline__ void raise(const float (&S)[1][tiles][4], const float (&c)[2], float (&factor)[2]) {
    float largest[2][2];  // of even and odd columns: four chains side by side
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        largest[i / 2][i % 2] = t == 0 ? S[0][t][i] : fmaxf(largest[i / 2][i % 2], S[0][t][i]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float old = m[half];
      m[half] = fmaxf(old, quad_max(fmaxf(largest[half][0], largest[half][1])) * c[half]);
      factor[half] = exp2_fast(old - m[half]);
      l[half] *= factor[half];
    }
  }

  // S becomes P, rounded to e4m3, as the A operand of the product with V: step k takes keys 32·k … 32·k + 31 in the order
  // of V's transposed rows. `sum` is this lane's part of l. False if P may be beyond the limit. (At most 192 keys: where
  // all of them score the same, the partial sums of P = 16 stay below it.)
  template <int tiles>
  __device__ __forceinline__ bool exponentials(std::uint32_t (&P)[tiles / 4][4], float (&S)[1][tiles][4],
                                               const float (&c)[2], float (&sum)[2]) const {
    static_assert(tiles * 8 <= 192);
    const float shift[2] = {offset - m[0], offset - m[1]};
    float part[2][2] = {};
#pragma unroll
    for (int k = 0; k < tiles / 4; ++k) {
#pragma unroll
      for (int t = 4 * k; t < 4 * k + 4; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          S[0][t][i] = exp2_fast(fmaf(S[0][t][i], c[i / 2], shift[i / 2]));
          part[i / 2][i % 2] += S[0][t][i];
        }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int t = 4 * k + i / 2 * 2, half = i % 2;
        P[k][i] = pack_e4m3(S[0][t][2 * half], S[0][t][2 * half + 1], S[0][t + 1][2 * half], S[0][t + 1][2 * half + 1]);
      }
    }
    sum[0] = part[0][0] + part[0][1];
    sum[1] = part[1][0] + part[1][1];
    return fmaxf(fmaxf(part[0][0], part[0][1]), fmaxf(part[1][0], part[1][1])) <= limit;
  }
};

// O·v / l to global memory, a quad 16 neighbouring numbers of a row (32 bytes) at once; and LSE.
template <class Config, int slices, int tiles>
__device__ __forceinline__ void store_fp8(const Args& args, const TileOrder::Tile& tile, int warp_row,
                                          const Fp8Softmax& softmax, const float (&O)[slices][tiles][4],
                                          float v_scale) {
  const Problem& problem = args.problem;
  const int lane = thread_index() % 32, first_row = tile.first_row + warp_row, row = first_row + lane / 4;
  const std::int64_t head = static_cast<std::int64_t>(tile.batch) * problem.heads + tile.head;
  float log_sum[2], factor[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool saw_a_key = visible_keys(problem, row + 8 * half) > 0;
    const float sum = quad_sum(softmax.l[half]);
    // A sum of 0 in spite of visible keys means that every score was −inf: NaN, as in double.
    const float log2_sum = sum == 0.f ? not_a_number : softmax.m[half] - Fp8Softmax::offset + log2f(sum);
    log_sum[half] = saw_a_key ? log2_sum * ln_2 : -infinity;
    factor[half] = saw_a_key ? v_scale / sum : 0.f;
  }
  auto* const O_global = head_of<__nv_bfloat16>(args.o, tile.batch, tile.head);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int columns = row + 8 * half < problem.n_q ? problem.d - lane % 4 * 4 : 0;  // that exist, from this lane's on
    auto* const to = O_global + (row + 8 * half) * args.o.row_stride + lane % 4 * 4;
#pragma unroll
    for (int t = 0; t < slices * tiles; t += 2) {
      const float(&left)[4] = O[t / tiles][t % tiles], (&right)[4] = O[t / tiles][t % tiles + 1];
      const float f = factor[half];
      store_global_8_if(t * 8 < columns, to + t * 8, pack<__nv_bfloat16>(left[2 * half] * f, right[2 * half] * f),
                        pack<__nv_bfloat16>(left[2 * half + 1] * f, right[2 * half + 1] * f));
    }
  }
  // Lane i gathers and writes row i, so that whole sectors leave at once.
  const float top = __shfl_sync(0xffffffff, log_sum[0], lane % 8 * 4),
              bottom = __shfl_sync(0xffffffff, log_sum[1], lane % 8 * 4);
  if (lane < 16 && first_row + lane < problem.n_q)
    args.lse[head * problem.n_q + first_row + lane] = lane < 8 ? top : bottom;
}

// Consumer: 64 rows of each tile of Q.
template <class Config>
__device__ __forceinline__ void consume_fp8(const Args& args, std::uint32_t base) {
  using Shared = Fp8Shared<Config>;
  using Number = typename Shared::Number;
  using QTile = typename Shared::QTile;
  using KTile = typename Shared::KTile;
  using VtTile = typename Shared::VtTile;
  constexpr int d = Shared::d, rows_q = Shared::rows_q, rows_kv = Shared::rows_kv;
  constexpr int slice = Config::slice, slices = d / slice, in_flight = Config::slices_in_flight;
  static_assert(rows_q == Config::tiling.consumers * warpgroup_rows && rows_kv % 32 == 0);

  Fp8Rings<Config> rings(base);
  const Problem& problem = args.problem;
  // The shuffle keeps it in a register that the warp shares, where reading threadIdx again would take longer.
  const int consumer = static_cast<int>(first_lane(threadIdx.x / warpgroup_threads)) - 1, lane = threadIdx.x % 32;
  const int my_row = consumer * warpgroup_rows;
  const auto warp_row = [&] { return my_row + static_cast<int>(thread_index()) % warpgroup_threads / 32 * 16; };
  // The operands of stage 0; those of others are as far behind as the tiles are long.
  const Operand Q_rows = QTile{base + Shared::Q}.by_rows(my_row), K_rows = KTile{base + Shared::K}.by_rows(0),
                Vt_rows = VtTile{base + Shared::Vt}.by_rows(0);

  for (;;) {
    rings.Q.wait_full();
    const Fp8Tile tile = rings.announced();
    if (!tile.exists()) break;
    const int first_row = tile.first_row + my_row;
    const KeyTiles mine =
        first_row < problem.n_q ? key_tiles<rows_kv>(problem, first_row, warpgroup_rows) : KeyTiles{0, 0};
    const std::int64_t head = static_cast<std::int64_t>(tile.batch) * problem.heads + tile.head;
    const std::int64_t kv_head = static_cast<std::int64_t>(tile.batch) * problem.kv_heads + tile.kv_head;
    float q_scale[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = tile.first_row + warp_row() + lane / 4 + 8 * half;
      q_scale[half] =
          args.scale * log2_e * HeadScales(args.q_scales, head, problem.n_q, min(row, problem.n_q - 1)).here();
    }
    const int last_key = max(mine.all - 1, 0) * rows_kv;
    HeadScales k_scales(args.k_scales, kv_head, problem.n_kv, last_key),
        v_scales(args.v_scales, kv_head, problem.n_kv, last_key);

    float S[1][rows_kv / 8][4], T[in_flight][slice / 8][4], O[slices][slice / 8][4] = {};
    std::uint32_t P[rows_kv / 32][4];
    Fp8Softmax softmax;
    float v_scale = 1;  // O holds O / v_scale

    const auto start_scores = [&] {  // S = Q K_jᵀ
      const int q = rings.Q.stage * QTile::bytes, k = rings.K.stage * KTile::bytes;
      wgmma_fence();
#pragma unroll
      for (int step = 0; step < d / 32; ++step)
        Wgmma<rows_kv>::template ss<Number, false>(S[0], Q_rows.at(q + QTile::row_step(step)),
                                                   K_rows.at(k + KTile::row_step(step)), step > 0);
      wgmma_commit();
    };
    const auto start_weighing = [&](float(&T)[slice / 8][4], int s) {  // T = P V_j, columns of slice s
      const int v = rings.Vt.stage * VtTile::bytes + s * slice * 128;
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < rows_kv / 32; ++k)
        Wgmma<slice>::template rs<Number, false>(T, P[k], Vt_rows.at(v + VtTile::row_step(k)), k > 0);
      wgmma_commit();
    };
    const auto add = [&](float(&O)[slice / 8][4], float(&T)[slice / 8][4], const float(&factor)[2]) {  // O = O·f + T
      pin(T);
#pragma unroll
      for (int t = 0; t < slice / 8; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) O[t][e] = fmaf(O[t][e], factor[e / 2], T[t][e]);
    };

    int j = key_tiles<rows_kv>(problem, tile.first_row, rows_q).all - 1;
    for (; j >= mine.all; --j) {  // tiles that others of the block need, but not these rows
      rings.K.wait_full();
      rings.K.give_back();
      rings.Vt.wait_full();
      rings.Vt.give_back();
    }
    if (j < 0) rings.Q.release();

    for (; j >= 0; --j) {
      rings.K.wait_full();
      start_scores();
      // While the product runs: what else the tile needs.
      float c[2], factor[2] = {1, 1}, sum[2];
      const float k_scale = k_scales.back_to(j * rows_kv);
      c[0] = q_scale[0] * k_scale, c[1] = q_scale[1] * k_scale;
      if (v_scales.scales != nullptr) {
        const float old = v_scale;
        v_scale = v_scales.back_to(j * rows_kv);
        factor[0] = factor[1] = __fdividef(old, v_scale);
      }
      rings.Vt.wait_full();
      wgmma_wait<0>();
      pin(S[0]);

      // Tiles with a mask, and the first without: from then on every row has seen keys, and so has an m.
      bool raise = j + 1 >= mine.whole;
      if (!raise) {
        const bool fits = softmax.exponentials(P, S, c, sum);
        raise = barrier_any(1 + consumer, warpgroup_threads, !fits);  // the four warps multiply together
        if (raise) {
          start_scores();
          wgmma_wait<0>();
          pin(S[0]);
        }
      }
      if (raise) {
        if (j >= mine.whole) mask_scores(S, problem, tile.first_row + warp_row(), j * rows_kv);
        float rise[2];
        softmax.raise(S, c, rise);
        factor[0] *= rise[0], factor[1] *= rise[1];
        softmax.exponentials(P, S, c, sum);
      }
      softmax.l[0] += sum[0];
      softmax.l[1] += sum[1];

      start_weighing(T[0], 0);
      rings.K.give_back();
      if (j == 0) rings.Q.release();
#pragma unroll
      for (int s = 0; s < slices; ++s) {
        if (in_flight == 2 && s + 1 < slices) {  // the next slice runs while this one is added
          start_weighing(T[(s + 1) % in_flight], s + 1);
          wgmma_wait<1>();
        } else {
          wgmma_wait<0>();
        }
        add(O[s], T[s % in_flight], factor);
        if (in_flight == 1 && s + 1 < slices) start_weighing(T[0], s + 1);
      }
      rings.Vt.give_back();
    }

    // Which tile it is is read again: kept over the loop, it would cost registers that S and O need.
    store_fp8<Config>(args, rings.announced(), warp_row(), softmax, O, v_scale);
    rings.next_tile();
  }
}

template <class Config>
__global__ void __launch_bounds__(warpgroup_threads*(1 + Config::tiling.consumers), 1)
    flash3_fp8(const __grid_constant__ Args args, const __grid_constant__ TensorMaps maps,
               const __grid_constant__ TileOrder order) {
  // What the warpgroups take must be what the block was given, or they wait for ever.
  constexpr int warpgroups = 1 + Config::tiling.consumers, given = 65536 / (warpgroups * warpgroup_threads) / 8 * 8;
  static_assert(Config::loader_registers + Config::tiling.consumers * Config::consumer_registers <= given * warpgroups);

  extern __shared__ __align__(1024) unsigned char shared[];
  const std::uint32_t base = first_lane(smem_address(shared));
  if (threadIdx.x == 0) {
    Fp8Rings<Config>(base).init();
    mbarrier_init_fence();
  }
  __syncthreads();  // the barriers are there for all
  if (threadIdx.x < warpgroup_threads) {
    keep_registers<Config::loader_registers>();
    if (threadIdx.x >= 32)
      transpose_fp8<Config>(base);
    else if (threadIdx.x == 0)
      load_fp8<Config>(args, maps, order, base);
  } else {
    take_registers<Config::consumer_registers>();
    consume_fp8<Config>(args, base);
  }
}

template <class Config>
void launch_flash3_fp8(const Args& args) {
  constexpr Tiling tiling = Config::tiling;
  const TileOrder order = tile_order(args, tiling.rows_q);
  static const int multiprocessors = current_device().multiprocessors;
  launch(flash3_fp8<Config>, dim3(std::min(order.tiles(), multiprocessors)), warpgroup_threads * (1 + tiling.consumers),
         Fp8Shared<Config>::bytes, args, tensor_maps(args, tiling.rows_q, tiling.rows_kv, warpgroup_rows), order);
}

}  // namespace fa::kernels

// Matrix products of one warpgroup (4 warps), on tiles in shared memory that the copy engine wrote.
//
// A tile of rows × cols is cut into panels of 128 bytes of each row; a panel is [rows][128 bytes], swizzled as in tile.cuh:
//
//   panel 0: columns 0…63      panel 1: columns 64…127   (16 bits; 128 columns of 8 bits)
//   row 0  ┌──────────────┐    ┌──────────────┐
//   row 1  │  128 bytes   │    │              │          8 rows are one swizzle pattern of 1024 bytes
//     …    └──────────────┘    └──────────────┘
//
// wgmma takes a tile by a descriptor of 64 bits: where it starts, how far apart its patterns are, how it is swizzled. One
// step is 32 bytes of depth (k), and walks over the tile by adding to the start alone.   [PTX ISA, "wgmma"]
#pragma once

#include "kernels/device/numbers.cuh"
#include "kernels/device/ptx.cuh"

namespace fa::kernels {

inline constexpr int warpgroup_threads = 128;
inline constexpr int warpgroup_rows = 64;  // of one wgmma

// A descriptor before its steps. It is the same in all lanes, and wgmma wants it in the registers that a warp shares; the
// shuffle tells the compiler so, which then counts the steps there too.
struct Operand {
  std::uint32_t low;

  // `across` leads from one panel to the next, where B's columns take more than one; in bytes, as all.
  __device__ __forceinline__ Operand(std::uint32_t start, std::uint32_t across)
      : low(first_lane(across >> 4 << 16 | start >> 4)) {}
  __device__ __forceinline__ std::uint64_t at(int step) const {
    constexpr std::uint32_t pattern = 1024 >> 4, swizzle_128 = 1;
    return static_cast<std::uint64_t>(swizzle_128 << 30 | pattern) << 32 | (low + (step >> 4));
  }
};

template <class Number_, int rows_, int cols_>
struct PanelTile {
  using Number = Number_;
  static constexpr int rows = rows_;
  static constexpr int cols = cols_;
  static constexpr int panel_cols = 128 / static_cast<int>(sizeof(Number));
  static constexpr int panels = cols / panel_cols;
  static constexpr int panel_bytes = rows * 128;
  static constexpr int bytes = panels * panel_bytes;
  static_assert(cols % panel_cols == 0 && rows % 8 == 0);

  std::uint32_t base;  // shared address, a multiple of 1024

  __device__ __forceinline__ std::uint32_t panel(int p) const { return base + p * panel_bytes; }
  // Where the 16 bytes `chunk` of a row lie.
  __device__ __forceinline__ std::uint32_t at(int row, int chunk) const {
    return panel(chunk / 8) + row * 128 + (chunk % 8 ^ row % 8) * 16;
  }

  // The operand whose rows are A's rows or B's columns, from `row` on.
  __device__ __forceinline__ Operand by_rows(int row) const { return {base + row * 128, 0}; }
  // Its step k holds 32 bytes of each row.
  static constexpr int row_step(int k) { return k / 4 * panel_bytes + k % 4 * 32; }
  // The operand whose columns are B's columns (16 bits only).
  __device__ __forceinline__ Operand by_columns() const { return {base, panel_bytes}; }
  // Its step k holds 16 rows.
  static constexpr int column_step(int k) { return k * 16 * 128; }
};

// Starts the copy of a tile, panel by panel; each box of the map is one panel.
template <class Tile>
__device__ __forceinline__ void load_tile(const Tile& tile, const CUtensorMap& map, std::uint32_t barrier, int row,
                                          int head, int batch, std::uint64_t policy) {
#pragma unroll
  for (int p = 0; p < Tile::panels; ++p)
    tma_load(tile.panel(p), map, barrier, p * Tile::panel_cols, row, head, batch, policy);
}

// Starts S = Q Kᵀ for the 64 rows of Q from `row` on, as one group.
template <class QTile, class KTile, int tiles>
__device__ __forceinline__ void start_scores(float (&S)[1][tiles][4], const QTile& Q, int row, const KTile& K) {
  static_assert(tiles * 8 == KTile::rows && QTile::cols == KTile::cols);
  const Operand A = Q.by_rows(row), B = K.by_rows(0);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < QTile::panels * 4; ++k)
    Wgmma<KTile::rows>::template ss<typename QTile::Number, false>(S[0], A.at(QTile::row_step(k)),
                                                                   B.at(KTile::row_step(k)), k > 0);
  wgmma_commit();
}

// Starts O += P V, as one group. P[k] holds columns 16·k … 16·k + 15, packed.
template <class VTile, int tiles, int steps>
__device__ __forceinline__ void start_weighing(float (&O)[1][tiles][4], const std::uint32_t (&P)[steps][1][4],
                                               const VTile& V) {
  static_assert(tiles * 8 == VTile::cols && steps * 16 == VTile::rows);
  const Operand B = V.by_columns();
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < steps; ++k)
    Wgmma<VTile::cols>::template rs<typename VTile::Number, true>(O[0], P[k][0], B.at(VTile::column_step(k)), true);
  wgmma_commit();
}

// Writes O, times a factor per row, to the 64 rows of a tile from `row` on, as 16-bit numbers where the swizzle wants them.
template <class Number, class Tile, int tiles>
__device__ __forceinline__ void put_rows(const Tile& tile, int row, const float (&O)[1][tiles][4],
                                         const float (&factor)[1][2]) {
  // Lane 8·i + r writes row r of 8 × 8 tile i of each patch of 16 × 16: i = 0…3 are the top and bottom half of the left
  // columns, then of the right ones.
  const int lane = threadIdx.x % 32, warp = threadIdx.x % warpgroup_threads / 32;
  const int tile_row = row + warp * 16 + lane % 16, right = lane / 16;
  const std::uint32_t start = tile.base + tile_row * 128 + ((right ^ (tile_row % 8)) * 16);
#pragma unroll
  for (int t = 0; t < tiles; t += 2) {
    const std::uint32_t address = (start ^ (t % 8 * 16)) + t / 8 * Tile::panel_bytes;
    stmatrix(address, pack<Number>(O[0][t][0] * factor[0][0], O[0][t][1] * factor[0][0]),
             pack<Number>(O[0][t][2] * factor[0][1], O[0][t][3] * factor[0][1]),
             pack<Number>(O[0][t + 1][0] * factor[0][0], O[0][t + 1][1] * factor[0][0]),
             pack<Number>(O[0][t + 1][2] * factor[0][1], O[0][t + 1][3] * factor[0][1]));
  }
}

}  // namespace fa::kernels

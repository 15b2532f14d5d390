// Tiles of 16-bit numbers in shared memory, and the only code that moves tiles between global and shared memory.
//
// A tile is row-major in units of 16-byte chunks. Tensor cores are fed by ldmatrix, which takes 8 rows at the same chunk
// column in one go; 8 rows of 128 bytes or more all start at the same bank, so that would be an 8-way bank conflict.
// The swizzle stores chunk c of row r at c ^ (r mod 8): any 8 rows of one chunk column then cover all 32 banks, and so
// do 8 chunks of one row.
//
//   row 0:  0 1 2 3 4 5 6 7        the place of logical chunk c in each row (d = 64: 8 chunks a row)
//   row 1:  1 0 3 2 5 4 7 6
//   row 2:  2 3 0 1 6 7 4 5   …
#pragma once

#include <cstdint>

#include "kernels/device/ptx.cuh"

namespace fa::kernels {

enum class Layout { plain, swizzled };

// A rows × cols tile of 16-bit numbers at a 1024-byte aligned shared address.
template <int rows_, int cols_, Layout layout = Layout::swizzled>
struct SmemTile {
  static constexpr int rows = rows_;
  static constexpr int cols = cols_;
  static constexpr int row_bytes = cols * 2;
  static constexpr int bytes = rows * row_bytes;
  static constexpr int chunks = cols / 8;  // 16-byte chunks in a row
  static_assert(layout == Layout::plain || cols % 64 == 0 || cols == 32,
                "the swizzle permutes the 8 chunks of 128 bytes, in one row or in two");

  std::uint32_t base;  // shared address

  // Where the chunk of (row, chunk) lies.
  __device__ __forceinline__ std::uint32_t at(int row, int chunk) const {
    if constexpr (layout == Layout::swizzled) chunk ^= cols == 32 ? row / 2 & 3 : row & 7;
    return base + row * row_bytes + chunk * 16;
  }
};

// A lane's walk over a tile with ldmatrix. Each step moves by whole 16 × 16 patches, so `row mod 8` never changes and a
// step along the columns is one exclusive-or, a step along the rows an immediate offset.
//
//   order rows_first: tiles 0…3 of ldmatrix = (rows 0–7, cols 0–7), (rows 8–15, cols 0–7), (0–7, 8–15), (8–15, 8–15)
//   order cols_first: the middle two change places
enum class Order { rows_first, cols_first };

template <class Tile, Order order>
struct Walk {
  std::uint32_t start;  // this lane's address in the first patch

  // Starts at `row` and at column 16·patch_col, which must be a multiple of the columns walked over from there.
  __device__ __forceinline__ Walk(const Tile& tile, int row, int patch_col = 0) {
    const int lane = threadIdx.x % 32;
    const int row_half = order == Order::rows_first ? lane / 8 % 2 : lane / 16;
    const int col_half = order == Order::rows_first ? lane / 16 : lane / 8 % 2;
    start = tile.at(row + row_half * 8 + lane % 8, col_half) ^ (patch_col * 32);
  }
  // Patch whose first row is `row` below the start and whose first column is 16·patch_col; both known at compile time, so
  // that a patch costs at most one instruction: the swizzle stays within 128 bytes, what is beyond them is an offset.
  __device__ __forceinline__ std::uint32_t at(int row, int patch_col) const {
    return (start ^ (patch_col % 4 * 32)) + patch_col / 4 * 128 + row * Tile::row_bytes;
  }
};

// A lane's walk over a tile with 4-byte stores of accumulators: it starts at row g = lane / 4 of a patch and number
// 2·(lane mod 4) of a chunk. Steps of 8 rows and of whole chunks, as cheap as Walk's.
template <class Tile>
struct StoreWalk {
  std::uint32_t start;

  // `chunk` must be a multiple of the chunks walked over from there.
  __device__ __forceinline__ StoreWalk(const Tile& tile, int row, int chunk = 0) {
    const int lane = threadIdx.x % 32;
    start = (tile.at(row + lane / 4, 0) ^ (chunk * 16)) + lane % 4 * 4;
  }
  __device__ __forceinline__ std::uint32_t at(int row, int chunk) const {
    return (start ^ (chunk % 8 * 16)) + chunk / 8 * 128 + row * Tile::row_bytes;
  }
};

// Starts the copy of rows [first_row, first_row + Tile::rows) of a matrix in global memory to a shared tile, by all
// `threads` of the block. Rows from n on, and columns from d on, become zeros: so a kernel takes ragged tiles and smaller
// head dimensions. `whole` promises that all rows are below n.
template <int threads, bool whole, class Tile, class Number>
__device__ __forceinline__ void copy_tile(const Tile& tile, const Number* matrix, std::int64_t row_stride,
                                          int first_row, int n, int d) {
  constexpr int rows_per_pass = threads / Tile::chunks, passes = Tile::rows / rows_per_pass;
  static_assert(threads % Tile::chunks == 0 && Tile::rows % rows_per_pass == 0);
  // Each thread keeps to one chunk column: one test of the column, and neighbouring threads read neighbouring bytes.
  const unsigned thread = thread_index();
  const int row = thread / Tile::chunks, chunk = thread % Tile::chunks;
  const bool in_columns = chunk * 8 < d;
  const Number* source = matrix + (first_row + row) * row_stride + chunk * 8;
#pragma unroll
  for (int pass = 0; pass < passes; ++pass) {
    const int r = row + pass * rows_per_pass;
    cp_async_16(tile.at(r, chunk), source,
                in_columns && (whole || first_row + r < n));  // reads nothing where not valid
    source += rows_per_pass * row_stride;
  }
}

}  // namespace fa::kernels

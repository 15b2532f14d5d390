#pragma once
// How a problem is cut into tiles: the only home of tile shapes, read by kernels, launchers, simulator, labs and tests.
//
// Everything here is constexpr, so that a kernel may compile from it. (A `Tiling` cannot itself be the template
// argument of a __global__ function: nvcc's host stub prints the mangled name of a namespaced type. Carry it in a type.)

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/element.h"
#include "sim/core/tiles.h"
#include "sim/core/units.h"

namespace fa {

// The shape of a tile of numbers.
struct TileShape {
  int rows = 0;
  int cols = 0;

  friend constexpr bool operator==(TileShape, TileShape) = default;
  constexpr std::int64_t count() const { return static_cast<std::int64_t>(rows) * cols; }
  constexpr Bytes bytes(int bytes_each) const { return Bytes(count()) * bytes_each; }
};

struct Tiling {
  int rows_q = 128;   // Br: rows of a Q (and O) tile
  int rows_kv = 128;  // Bc: rows of a K (and V) tile
  // FA-1 only: O travels as fp32 between passes, as the released kernel had it; the paper counts the element type.
  bool fp32_temporaries = false;

  friend constexpr bool operator==(const Tiling&, const Tiling&) = default;

  // Tiles of the operands, in numbers.
  constexpr TileShape q_tile(int d) const { return {rows_q, d}; }
  constexpr TileShape kv_tile(int d) const { return {rows_kv, d}; }
  constexpr TileShape score_tile() const { return {rows_q, rows_kv}; }

  // SRAM that flash1 and flash2 open: one tile each of Q, K and V.
  constexpr Bytes qkv_bytes(int d, Element element) const {
    return (q_tile(d).bytes(1) + kv_tile(d).bytes(2)) * size_of(element);
  }

  // Rows of S that the unfused softmax holds whole, as fp32 in the registers of one SM; 0 if not even one fits.
  constexpr int softmax_rows(int n_kv, Bytes registers) const {
    return static_cast<int>(std::min<std::int64_t>(rows_q, registers.count() / (std::int64_t{n_kv} * 4)));
  }

  // FlashAttention-1's rule for an on-chip memory of `sram_elements` numbers (paper, Algorithm 1, line 1):
  // Bc = ⌈M / 4d⌉, Br = min(⌈M / 4d⌉, d).
  static constexpr Tiling from_sram(std::int64_t sram_elements, int d) {
    const auto quarter = static_cast<int>(std::max<std::int64_t>(1, ceil_div(sram_elements, 4 * std::int64_t{d})));
    return {.rows_q = std::min(quarter, d), .rows_kv = quarter};
  }
};

// A tiling that has a name. `d` = 0 stands for every head dimension.
struct NamedTiling {
  std::string_view name;
  std::string_view program;
  int d;
  Tiling tiling;
  std::string_view source;
};

// clang-format off
inline constexpr std::array named_tilings{
    // Program texts for the eye: small enough to follow, large enough to rescale.
    NamedTiling{"lesson",           "*",      0,   {.rows_q = 8,   .rows_kv = 8},   "teaching size"},
    // FlashAttention-1 as released in 2022: 16-row Q tiles and fp32 temporaries (its csrc, v1.0.9).
    NamedTiling{"flash1-released",  "flash1", 64,  {.rows_q = 16,  .rows_kv = 256, .fp32_temporaries = true}, "flash-attn 1.0.9"},
    NamedTiling{"flash1-released",  "flash1", 128, {.rows_q = 16,  .rows_kv = 128, .fp32_temporaries = true}, "flash-attn 1.0.9"},
    // FlashAttention-2's released forward tiles on A100 and later (its csrc, v2.x).
    NamedTiling{"flash2-released",  "flash2", 64,  {.rows_q = 128, .rows_kv = 128}, "flash-attn 2"},
    NamedTiling{"flash2-released",  "flash2", 128, {.rows_q = 128, .rows_kv = 64},  "flash-attn 2"},
    NamedTiling{"flash2-released",  "flash2", 256, {.rows_q = 128, .rows_kv = 64},  "flash-attn 2"},
};
// clang-format on

// What a program uses when the user names no tiling.
constexpr Tiling square_tiling(int d) {
  return d <= 128 ? Tiling{.rows_q = 128, .rows_kv = 128} : Tiling{.rows_q = 128, .rows_kv = 64};
}

}  // namespace fa

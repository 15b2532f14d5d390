#pragma once
// How a problem is cut into tiles: the only home of tile shapes, read by kernels, launchers, simulator, labs and tests.
//
// Everything here is constexpr, so that a kernel may compile from it. (A `Tiling` cannot itself be the template
// argument of a __global__ function: nvcc's host stub prints the mangled name of a namespaced type. Carry it in a type.)

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/pass.h"
#include "sim/config/row_work.h"
#include "sim/config/warps.h"
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
  // FA-1 only: O (and dQ) travel as fp32 between passes, as the released kernel had it; the paper counts the element
  // type.
  bool fp32_temporaries = false;
  // FA-1's backward only: O is read in every pass, to compute D, as Algorithm 4 prints it; the released kernel reads it
  // in the first and keeps D.
  bool o_every_pass = false;
  // flash3 only: how the warpgroups of a block share the work (FA-3 paper, section 3).
  int consumers = 2;       // warpgroups that compute, each on rows_q / consumers rows
  int stages = 2;          // K tiles, and V tiles, that SRAM holds at once
  bool producer = true;    // one more warpgroup issues the loads; else the first consumer does, between block barriers
  bool ping_pong = true;   // the consumers' products take turns, so that one's softmax runs under another's products
  bool overlap = true;     // a consumer's softmax runs under its own product with the V tile before
  bool p_in_sram = false;  // P goes to the second product through SRAM, not in registers
  // What the CUDA kernels of this repository do where the papers leave a choice (named tilings "…-kernel").
  int kernel_d = 0;  // head dimension that a kernel is compiled for: a smaller one is padded with zeros on its way in
  int groups = 1;    // flash2: parts of a Q tile that share its K, V tiles; each passes over those it does not see
  int depth = 0;     // naive: numbers of a product's sum that SRAM holds at a time; 0: a whole tile
  bool row_by_row = false;  // naive: a block of softmax takes row after row, each padded to one of `row_lengths`
  bool rebuilds_p =
      false;              // naive's backward: P is made again from Q, K and LSE, which the forward leaves in its place
  bool in_place = false;  // naive: P takes the place of S in HBM, and dS that of dP
  // flash1: a Q tile's last pass leaves O and LSE (or dQ) as others want them, and nothing of what travels.
  bool leaves_result = false;
  bool skips_apart = false;  // flash3: a consumer passes over K, V tiles that its own rows do not see
  bool lazy_factor =
      false;  // flash3: a row's m stays until a score passes it: a factor for the first tile, seldom later
  bool short_last = false;  // flash3: without a mask, tiles of Q with fewer rows come last of all heads
  bool whole_boxes =
      false;  // flash3: the copy engine (TMA) moves whole tiles; what is outside Q, K, V crosses as zeros
  bool o_from_registers = false;  // flash3: O goes from registers to HBM, not through SRAM
  bool copies_lse = false;   // flash2's backward: LSE is copied beside D, and both are padded to whole tiles of rows
  bool in_sections = false;  // flash2's backward: under a causal mask heads come in sections (sections.h)

  friend constexpr bool operator==(const Tiling&, const Tiling&) = default;

  // Tiles of the operands, in numbers.
  constexpr int width(int d) const { return std::max(d, kernel_d); }
  constexpr TileShape q_tile(int d) const { return {rows_q, width(d)}; }
  constexpr TileShape kv_tile(int d) const { return {rows_kv, width(d)}; }
  constexpr TileShape score_tile() const { return {rows_q, rows_kv}; }

  // SRAM that flash1 and flash2 open: one tile each of Q, K and V.
  constexpr Bytes qkv_bytes(int d, Element element) const {
    return (q_tile(d).bytes(1) + kv_tile(d).bytes(2)) * size_of(element);
  }

  // Rows of a Q tile that each consumer of flash3 works on.
  constexpr int rows_each() const { return static_cast<int>(ceil_div(rows_q, consumers)); }
  constexpr TileShape q_tile_each(int d) const { return {rows_each(), width(d)}; }
  // SRAM that flash3 opens: Q, the stages of K and V (8 bits: of Vᵀ too), and P if it goes through SRAM.
  constexpr Bytes flash3_bytes(int d, Element element) const {
    const Bytes q = q_tile_each(d).bytes(size_of(element)) * consumers;
    const Bytes kv = kv_tile(d).bytes(size_of(element)) * stages * (element == Element::e4m3 ? 3 : 2);
    const Bytes p = TileShape{rows_each() * consumers, rows_kv}.bytes(p_in_sram ? size_of(element) : 0);
    return q + kv + p;
  }

  // flash2: the rows of a group, and what it works on.
  constexpr Tiling of_group() const {
    Tiling group = *this;
    group.rows_q = static_cast<int>(ceil_div(rows_q, groups));
    group.groups = 1;
    return group;
  }

  // Numbers of a product's sum at a time, of tiles `tile` long.
  constexpr int depth_of(int tile) const { return depth > 0 ? depth : tile; }

  // The lengths of row that the kernel of softmax is compiled for; longer rows pass in pieces of the last. All its threads
  // share a row.
  static constexpr std::array row_lengths{2048, 8192, 32768};
  static constexpr int row_length(int n) {
    for (int length : row_lengths)
      if (n <= length) return length;
    return row_lengths.back();
  }
  // Those of softmax's gradient, which holds two rows; longer ones pass in pieces.
  static constexpr int gradient_length(int n) { return n <= 2048 ? 2048 : n > 8192 && n <= 16384 ? 16384 : 8192; }
  static constexpr int rows_of_a_block = 8;  // so that their LSE fill a sector

  // Rows of so many numbers that the unfused softmax holds whole, as fp32 in the registers of one SM: n_kv of S, or of P
  // and dP together. 0 if not even one fits.
  constexpr int softmax_rows(std::int64_t numbers, Bytes registers) const {
    if (row_by_row) return numbers <= row_lengths.back() ? rows_of_a_block : 0;
    return static_cast<int>(std::min<std::int64_t>(rows_q, registers.count() / (numbers * 4)));
  }

  // Who computes what (warps.h). FA-2, S of the forward: a warp takes queries for itself and all keys; 32 queries, or 16
  // where O of 32 would fill its registers.
  constexpr WarpGrid flash2_warps(int d) const { return {.down = parts(rows_q, d <= 128 ? 32 : 16)}; }
  // FA-1: a warp takes keys for itself and all queries, so O is summed over the warps.
  constexpr WarpGrid flash1_warps() const { return {.across = std::min(4, parts(rows_kv, 16))}; }
  // FA-3: each consumer is a warpgroup that multiplies 64 rows, and up to 256 columns, at once.
  constexpr WarpGrid flash3_warps(int columns) const {
    return {.down = parts(rows_each(), 64), .across = parts(columns, 256), .each = 4};
  }
  // A product of unfused attention: 32 rows each, and half of the columns.
  static constexpr WarpGrid gemm_warps(TileShape result) {
    return {.down = parts(result.rows, 32), .across = result.cols < 64 ? 1 : 2};
  }
  // Its softmax: all warps on one row.
  static constexpr WarpGrid softmax_warps(int numbers) {
    return {.across = numbers > 8192 ? 16 : std::min(8, parts(numbers, 64))};
  }
  // Passes over rows: eight warps, each with rows of its own.
  static constexpr WarpGrid row_warps() { return {.down = 8}; }
  constexpr BackwardWarps flash1_backward_warps() const {
    const WarpGrid S = flash1_warps();
    return {S, S.transposed(), {.across = S.across}};
  }
  // Up to 4 slices of the keys; where dK and dV of one are too many numbers for a warp, two share it: half of the
  // queries of S each, and half of the columns of dK and dV.
  constexpr BackwardWarps flash2_backward_warps(int d) const {
    const WarpGrid S{.down = d <= 64 ? 1 : std::min(2, parts(rows_q, 16)), .across = std::min(4, parts(rows_kv, 16))};
    const int down = S.warps() > 1 ? std::min(2, parts(rows_q, 16)) : 1;
    return {S, S.transposed(), {.down = down, .across = S.down * S.across / down}};
  }
  // Warpgroups of 64 keys each.
  constexpr BackwardWarps flash3_backward_warps() const {
    const WarpGrid S{.across = parts(rows_kv, 64), .each = 4};
    return {S, S.transposed(), {.across = S.across, .each = 4}};
  }

  // Who computes what each row has one of (row_work.h). The kernels that use tensor cores have it in four lanes, the default.
  // FA-1 pieces O together by eight lanes a row, 64 columns at a time, and does m and l again by one lane a row.
  constexpr RowStatistics flash1_statistics(int d) const {
    const int pieces = parts(width(d), 64), warps_of_rows = parts(rows_q, 32);
    return {.factor = {.rows = 4, .times = 2 * pieces, .in_all = 2 * warps_of_rows, .beyond = false, .blind = true},
            .reciprocal = {.rows = 4, .times = pieces, .beyond = false},
            .logarithm = {.rows = 32, .beyond = false, .blind = true}};
  }
  // The unfused softmax: all threads of a row have its m and l, and one of them its LSE.
  static constexpr RowStatistics softmax_statistics(int numbers) {
    const RowWork all{.rows = 1, .times = softmax_warps(numbers).warps(), .beyond = false};
    RowWork factor = all;
    factor.blind = true;
    return {.factor = factor, .reciprocal = all, .logarithm = {.rows = 1, .beyond = false}};
  }

  // FlashAttention-1's rule for an on-chip memory of `sram_elements` numbers (paper, Algorithm 1, line 1):
  // Bc = ⌈M / 4d⌉, Br = min(⌈M / 4d⌉, d).
  static constexpr Tiling from_sram(std::int64_t sram_elements, int d) {
    const auto quarter = static_cast<int>(std::max<std::int64_t>(1, ceil_div(sram_elements, 4 * std::int64_t{d})));
    return {.rows_q = std::min(quarter, d), .rows_kv = quarter};
  }

 private:
  static constexpr int parts(int size, int each) { return static_cast<int>(ceil_div(size, each)); }
};

// ---- What the CUDA kernels are compiled from; their names below are the kernels' and "-kernel". `d` is the native one. ----

// The products of naive attention, and its softmax.
constexpr Tiling naive_tiling(int d) {
  return {.rows_q = 128,
          .rows_kv = 128,
          .kernel_d = d,
          .depth = 64,
          .row_by_row = true,
          .rebuilds_p = true,
          .in_place = true};
}
// FA-1, forward and backward: short Q tiles as released in 2022; K, V tiles that leave a 64 KB SRAM (sm_75) room.
// The backward pass reads O in every pass, as Algorithm 4 does.
constexpr Tiling flash1_tiling(int d) {
  return {.rows_q = 16,
          .rows_kv = d <= 64 ? 128 : 64,
          .fp32_temporaries = true,
          .o_every_pass = true,
          .kernel_d = d,
          .leaves_result = true};
}
// FA-2 forward. The ping-pong kernel holds two groups of 4 warps, so its Q tile is twice as tall.
constexpr Tiling flash2_forward_tiling(int d) { return {.rows_q = d <= 128 ? 128 : 64, .rows_kv = 64, .kernel_d = d}; }
constexpr Tiling flash2_pingpong_tiling(int d) {
  return {.rows_q = d <= 128 ? 256 : 128, .rows_kv = d <= 64 ? 128 : 64, .kernel_d = d, .groups = 2};
}
// FA-2 backward: K and V stay, Q and dO stream.
constexpr Tiling flash2_backward_tiling(int d) {
  return {.rows_q = d <= 64 ? 32 : 64,
          .rows_kv = d <= 128 ? 128 : 64,
          .kernel_d = d,
          .copies_lse = true,
          .in_sections = true};
}
// The same in less SRAM: 77 KB at d 128 (consumer GPUs), 141 KB at d 256 (A100).
constexpr Tiling flash2_small_backward_tiling(int d) {
  return {.rows_q = 32, .rows_kv = 64, .kernel_d = d, .copies_lse = true, .in_sections = true};
}
// FA-3 forward, 16 bits (kernels/flash3/NOTES.md says why): as many keys as the registers of a consumer, or SRAM, allow.
constexpr Tiling flash3_forward_tiling(int d) {
  Tiling tiling{.rows_q = 128, .rows_kv = d <= 128 ? 128 : 80, .kernel_d = d};
  if (d <= 64) tiling.rows_q = 192, tiling.consumers = 3, tiling.stages = 3;
  tiling.skips_apart = tiling.lazy_factor = tiling.whole_boxes = tiling.short_last = true;
  return tiling;
}
// The steps towards it. In step 4 consumers go through all tiles of their block; step 1 is one warpgroup that does
// everything.
constexpr Tiling flash3_overlap_tiling(int d) {
  Tiling tiling = flash3_forward_tiling(d);
  tiling.skips_apart = tiling.short_last = false;
  return tiling;
}
constexpr Tiling flash3_wgmma_tiling(int d) {
  return {.rows_q = 64,
          .rows_kv = 128,
          .consumers = 1,
          .producer = false,
          .ping_pong = false,
          .overlap = false,
          .kernel_d = d,
          .whole_boxes = true};
}
constexpr Tiling flash3_pingpong_tiling(int d) {
  Tiling tiling = flash3_overlap_tiling(d);
  tiling.overlap = false;
  return tiling;
}
constexpr Tiling flash3_specialised_tiling(int d) {
  Tiling tiling = flash3_pingpong_tiling(d);
  tiling.ping_pong = false;
  return tiling;
}
// The same in 8 bits (kernels/flash3/NOTES_FP8.md): as many consumers as hold O, and no turns among them.
constexpr Tiling flash3_fp8_tiling(int d) {
  const int consumers = d <= 128 ? 3 : 2;
  return {.rows_q = 64 * consumers,
          .rows_kv = 128,
          .consumers = consumers,
          .stages = d <= 64    ? 4
                    : d <= 128 ? 3
                               : 2,
          .ping_pong = false,
          .overlap = false,
          .kernel_d = d,
          .skips_apart = true,
          .lazy_factor = true,
          .short_last = true,
          .whole_boxes = true,
          .o_from_registers = true};
}

// A tiling that has a name. `d` = 0 stands for every head dimension, and no `pass` for both.
struct NamedTiling {
  std::string_view name;
  std::string_view program;
  int d;
  Tiling tiling;
  std::string_view source;
  std::optional<Pass> pass = std::nullopt;
};

// clang-format off
inline constexpr std::array named_tilings{
    // Program texts for the eye: small enough to follow, large enough to rescale.
    NamedTiling{"lesson",           "*",      0,   {.rows_q = 8,   .rows_kv = 8},   "teaching size"},
    // FlashAttention-1 as released in 2022: 16-row Q tiles and fp32 temporaries (its csrc, v1.0.9).
    NamedTiling{"flash1-released",  "flash1", 64,  {.rows_q = 16,  .rows_kv = 256, .fp32_temporaries = true}, "flash-attn 1.0.9"},
    NamedTiling{"flash1-released",  "flash1", 128, {.rows_q = 16,  .rows_kv = 128, .fp32_temporaries = true}, "flash-attn 1.0.9"},
    // The same tiles with what the paper prints: temporaries in the element type, O read in every pass of the backward.
    NamedTiling{"flash1-printed",   "flash1", 64,  {.rows_q = 16,  .rows_kv = 256, .o_every_pass = true}, "FA-1 paper, Algorithms 1 and 4"},
    NamedTiling{"flash1-printed",   "flash1", 128, {.rows_q = 16,  .rows_kv = 128, .o_every_pass = true}, "FA-1 paper, Algorithms 1 and 4"},
    // FlashAttention-2's released tiles on A100 and later (its csrc, v2.x).
    NamedTiling{"flash2-released",  "flash2", 64,  {.rows_q = 128, .rows_kv = 128}, "flash-attn 2", Pass::forward},
    NamedTiling{"flash2-released",  "flash2", 128, {.rows_q = 128, .rows_kv = 64},  "flash-attn 2", Pass::forward},
    NamedTiling{"flash2-released",  "flash2", 256, {.rows_q = 128, .rows_kv = 64},  "flash-attn 2", Pass::forward},
    NamedTiling{"flash2-released",  "flash2", 64,  {.rows_q = 128, .rows_kv = 128}, "flash-attn 2", Pass::backward},
    NamedTiling{"flash2-released",  "flash2", 128, {.rows_q = 64,  .rows_kv = 128}, "flash-attn 2", Pass::backward},
    NamedTiling{"flash2-released",  "flash2", 256, {.rows_q = 64,  .rows_kv = 64},  "flash-attn 2", Pass::backward},
    // FlashAttention-3's released forward tiles on Hopper (its hopper/tile_size.h, 2025); fp8: its 8-bit kernels.
    NamedTiling{"flash3-released",  "flash3", 64,  {.rows_q = 192, .rows_kv = 192, .consumers = 3, .p_in_sram = true}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-released",  "flash3", 128, {.rows_q = 128, .rows_kv = 176}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-released",  "flash3", 256, {.rows_q = 128, .rows_kv = 80,  .ping_pong = false}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-causal",    "flash3", 64,  {.rows_q = 192, .rows_kv = 128, .consumers = 3}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-causal",    "flash3", 128, {.rows_q = 128, .rows_kv = 128}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-causal",    "flash3", 256, {.rows_q = 128, .rows_kv = 80,  .ping_pong = false}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-fp8",       "flash3", 64,  {.rows_q = 192, .rows_kv = 160, .consumers = 3, .ping_pong = false}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-fp8",       "flash3", 128, {.rows_q = 128, .rows_kv = 224}, "flash-attn 3", Pass::forward},
    NamedTiling{"flash3-fp8",       "flash3", 256, {.rows_q = 128, .rows_kv = 128}, "flash-attn 3", Pass::forward},
    // FlashAttention-3's released backward tiles on Hopper.
    NamedTiling{"flash3-released",  "flash3", 64,  {.rows_q = 128, .rows_kv = 128}, "flash-attn 3", Pass::backward},
    NamedTiling{"flash3-released",  "flash3", 128, {.rows_q = 80,  .rows_kv = 128}, "flash-attn 3", Pass::backward},
    NamedTiling{"flash3-released",  "flash3", 256, {.rows_q = 64,  .rows_kv = 80},  "flash-attn 3", Pass::backward},
    NamedTiling{"flash3-causal",    "flash3", 64,  {.rows_q = 128, .rows_kv = 128}, "flash-attn 3", Pass::backward},
    NamedTiling{"flash3-causal",    "flash3", 128, {.rows_q = 64,  .rows_kv = 128}, "flash-attn 3", Pass::backward},
    NamedTiling{"flash3-causal",    "flash3", 256, {.rows_q = 64,  .rows_kv = 80},  "flash-attn 3", Pass::backward},
    // The CUDA kernels of this repository. The published flash2 is the fastest step for each d (kernels/list.cu).
    NamedTiling{"naive-kernel",     "naive",  64,  naive_tiling(64),  "kernels/naive"},
    NamedTiling{"naive-kernel",     "naive",  128, naive_tiling(128), "kernels/naive"},
    NamedTiling{"naive-kernel",     "naive",  256, naive_tiling(256), "kernels/naive"},
    NamedTiling{"flash1-kernel",    "flash1", 64,  flash1_tiling(64),  "kernels/flash1"},
    NamedTiling{"flash1-kernel",    "flash1", 128, flash1_tiling(128), "kernels/flash1"},
    NamedTiling{"flash2-kernel",    "flash2", 64,  flash2_pingpong_tiling(64),  "kernels/flash2", Pass::forward},
    NamedTiling{"flash2-kernel",    "flash2", 128, flash2_forward_tiling(128),  "kernels/flash2", Pass::forward},
    NamedTiling{"flash2-kernel",    "flash2", 256, flash2_pingpong_tiling(256), "kernels/flash2", Pass::forward},
    NamedTiling{"flash2-kernel",    "flash2", 64,  flash2_backward_tiling(64),  "kernels/flash2", Pass::backward},
    NamedTiling{"flash2-kernel",    "flash2", 128, flash2_backward_tiling(128), "kernels/flash2", Pass::backward},
    NamedTiling{"flash2-kernel",    "flash2", 256, flash2_backward_tiling(256), "kernels/flash2", Pass::backward},
    NamedTiling{"flash2_small-kernel",    "flash2", 128, flash2_small_backward_tiling(128), "kernels/flash2", Pass::backward},
    NamedTiling{"flash2_small-kernel",    "flash2", 256, flash2_small_backward_tiling(256), "kernels/flash2", Pass::backward},
    NamedTiling{"flash2_pingpong-kernel", "flash2", 64,  flash2_pingpong_tiling(64),  "kernels/flash2", Pass::forward},
    NamedTiling{"flash2_pingpong-kernel", "flash2", 128, flash2_pingpong_tiling(128), "kernels/flash2", Pass::forward},
    NamedTiling{"flash2_pingpong-kernel", "flash2", 256, flash2_pingpong_tiling(256), "kernels/flash2", Pass::forward},
    // Steps 1 to 3: the same bytes, only faster.
    NamedTiling{"flash2_pipeline-kernel", "flash2", 64,  flash2_forward_tiling(64),  "kernels/flash2", Pass::forward},
    NamedTiling{"flash2_pipeline-kernel", "flash2", 128, flash2_forward_tiling(128), "kernels/flash2", Pass::forward},
    NamedTiling{"flash2_pipeline-kernel", "flash2", 256, flash2_forward_tiling(256), "kernels/flash2", Pass::forward},
    NamedTiling{"flash3-kernel",    "flash3", 64,  flash3_forward_tiling(64),  "kernels/flash3", Pass::forward},
    NamedTiling{"flash3-kernel",    "flash3", 128, flash3_forward_tiling(128), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3-kernel",    "flash3", 256, flash3_forward_tiling(256), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_fp8-kernel",    "flash3", 64, flash3_fp8_tiling(64), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_fp8-kernel",    "flash3", 128, flash3_fp8_tiling(128), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_fp8-kernel",    "flash3", 256, flash3_fp8_tiling(256), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_wgmma-kernel", "flash3", 64,  flash3_wgmma_tiling(64), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_wgmma-kernel", "flash3", 128, flash3_wgmma_tiling(128), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_specialised-kernel", "flash3", 64,  flash3_specialised_tiling(64), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_specialised-kernel", "flash3", 128, flash3_specialised_tiling(128), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_pingpong-kernel", "flash3", 64,  flash3_pingpong_tiling(64), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_pingpong-kernel", "flash3", 128, flash3_pingpong_tiling(128), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_overlap-kernel", "flash3", 64,  flash3_overlap_tiling(64), "kernels/flash3", Pass::forward},
    NamedTiling{"flash3_overlap-kernel", "flash3", 128, flash3_overlap_tiling(128), "kernels/flash3", Pass::forward},
    // The ablation of the FA-3 paper (section 4.2): without a warpgroup's own overlap, and without a producer.
    NamedTiling{"flash3-no-overlap",  "flash3", 128, {.rows_q = 128, .rows_kv = 176, .overlap = false}, "FA-3 paper, section 4.2", Pass::forward},
    NamedTiling{"flash3-no-producer", "flash3", 128, {.rows_q = 128, .rows_kv = 176, .producer = false, .ping_pong = false}, "FA-3 paper, section 4.2", Pass::forward},
};
// clang-format on

// The tiling of the CUDA kernel of that name, pass and native head dimension, if its tiles are these; else of one that
// does the same: of that program, with these tiles.
constexpr std::optional<Tiling> kernel_tiling(std::string_view kernel, std::string_view program, Pass pass, int d,
                                              int rows_q, int rows_kv) {
  constexpr std::string_view suffix = "-kernel";
  std::optional<Tiling> found;
  for (const NamedTiling& named : named_tilings) {
    if (named.name.size() <= suffix.size() || named.program != program || named.pass.value_or(pass) != pass ||
        named.d != d || named.tiling.rows_q != rows_q || named.tiling.rows_kv != rows_kv)
      continue;
    const std::size_t length = named.name.size() - suffix.size();
    if (named.name.substr(length) != suffix) continue;
    if (named.name.substr(0, length) == kernel) return named.tiling;
    if (!found) found = named.tiling;
  }
  return found;
}

// What a program uses when the user names no tiling.
constexpr Tiling square_tiling(int d) {
  return d <= 128 ? Tiling{.rows_q = 128, .rows_kv = 128} : Tiling{.rows_q = 128, .rows_kv = 64};
}
// For a fused backward, which holds Q, dO, K, V, P and dS at once: what FlashAttention-2 chose for numbers of 2 bytes.
constexpr Tiling backward_tiling(int d, Element element) {
  const int row = d * size_of(element);
  return row <= 128   ? Tiling{.rows_q = 128, .rows_kv = 128}
         : row <= 256 ? Tiling{.rows_q = 64, .rows_kv = 128}
         : row <= 512 ? Tiling{.rows_q = 64, .rows_kv = 64}
                      : Tiling{.rows_q = 32, .rows_kv = 32};
}

}  // namespace fa

// The tilings that the CUDA kernels are compiled with, one name each; everything derived from them is in Tiling.
#pragma once

#include "sim/config/tiling.h"

namespace fa::kernels {

// FA-2 forward. The ping-pong kernel holds two groups of 4 warps, so its Q tile is twice as tall.
constexpr Tiling flash2_forward_tiling(int d) { return {.rows_q = d <= 128 ? 128 : 64, .rows_kv = 64}; }
constexpr Tiling flash2_pingpong_tiling(int d) {
  return {.rows_q = d <= 128 ? 256 : 128, .rows_kv = d <= 64 ? 128 : 64};
}
// FA-2 backward: K and V stay, Q and dO stream.
constexpr Tiling flash2_backward_tiling(int d) { return {.rows_q = d <= 64 ? 32 : 64, .rows_kv = d <= 128 ? 128 : 64}; }
// The same in less SRAM: 77 KB at d 128 (consumer GPUs), 141 KB at d 256 (A100).
constexpr Tiling flash2_small_backward_tiling(int) { return {.rows_q = 32, .rows_kv = 64}; }
// FA-1, forward and backward: short Q tiles as released in 2022; K, V tiles that leave a 64 KB SRAM (sm_75) room.
// The backward pass reads O in every pass, as Algorithm 4 does.
constexpr Tiling flash1_tiling(int d) {
  return {.rows_q = 16, .rows_kv = d <= 64 ? 128 : 64, .fp32_temporaries = true, .o_every_pass = true};
}
// The products of naive attention.
constexpr Tiling naive_tiling(int) { return {.rows_q = 128, .rows_kv = 128}; }

}  // namespace fa::kernels

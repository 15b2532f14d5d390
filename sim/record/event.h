#pragma once
// One step of a block: what it did, to which tile, and what that cost. A fact, never a time.

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/problem.h"
#include "sim/record/tensor.h"

namespace fa {

enum class Op : signed char {
  start,           // every accumulator (or `to` alone) ← its first value: m = −∞, l = 0, O = 0
  load,            // HBM → SRAM or registers
  store,           // SRAM or registers → HBM
  matmul,          // to = scale · A B, or to += scale · A B, with A or B transposed or not
  mask,            // −∞ (or 0, for a gradient) where a query may not see a key
  scale,           // to = scale · to, as a pass of its own
  running_max,     // m ← max(m, rowmax S)
  rescale_factor,  // r ← exp(m_old − m_new)
  exp,             // P ← exp(S − m), or exp(S − LSE)
  running_sum,     // l ← r · l + rowsum P
  rescale,         // O ← r · O
  normalise,       // O ← O / l
  log_sum_exp,     // LSE ← m + ln l
  dropout,         // P ← keep ∘ P / (1 − p), and the same of dP
  // The backward.
  reduce,            // SRAM or registers → added to what is in HBM
  row_dot,           // D ← D + rowsum(dO ∘ O)
  softmax_gradient,  // dS ← P ∘ (dP − D)
  convert,           // a copy in the element type, in SRAM
  merge,             // warps that hold a partial sum each add up, through SRAM
  // Warpgroups with roles.
  transpose,  // V ← Vᵀ in SRAM: 8-bit tensor cores take it one way only
  turn,       // waits until the products of the warpgroup before are done (ping-pong)
  barrier,    // waits until every warpgroup of the block is here
};

inline constexpr std::array op_names = std::to_array<std::string_view>({"start",
                                                                        "load",
                                                                        "store",
                                                                        "matmul",
                                                                        "mask",
                                                                        "scale",
                                                                        "running_max",
                                                                        "rescale_factor",
                                                                        "exp",
                                                                        "running_sum",
                                                                        "rescale",
                                                                        "normalise",
                                                                        "log_sum_exp",
                                                                        "dropout",
                                                                        "reduce",
                                                                        "row_dot",
                                                                        "softmax_gradient",
                                                                        "convert",
                                                                        "merge",
                                                                        "transpose",
                                                                        "turn",
                                                                        "barrier"});

constexpr std::string_view name_of(Op op) { return op_names[static_cast<std::size_t>(op)]; }
constexpr int index_of(Op op) { return static_cast<int>(op); }

using BufferId = int;  // index into the buffers of a launch
inline constexpr BufferId no_buffer = -1;

struct Event {
  Op op = Op::load;
  Tensor tensor = Tensor::none;  // the HBM tensor of a load, store or reduce
  int launch = 0;
  std::int64_t block = 0;  // within the launch
  int lane = 0;            // who did it; programs without warp specialisation have one lane
  Head head = 0;           // the query head that it serves; K and V (and dK, dV) of it stand at kv_head_of(head)
  Rows rows{}, cols{};     // the tile that is moved, or that the result holds
  BufferId to = no_buffer;
  std::array<BufferId, 3> from{no_buffer, no_buffer, no_buffer};
  Bytes hbm{};  // requested from, sent to or added to HBM
  Bytes sram_read{}, sram_written{};
  Flops flops{};                  // of the tensor cores; whole tiles, as the hardware runs them
  std::int64_t exponentials = 0;  // whole tiles too
  std::int64_t special =
      0;  // what the special-function unit executes, by lanes: all that, copies, 1 / l, ln l (row_work.h)
  std::int64_t values = -1;  // where the result's rows × cols values stand in Run::values; −1: not recorded
};

}  // namespace fa

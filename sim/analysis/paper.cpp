#include "sim/analysis/paper.h"

#include <limits>

#include "sim/analysis/closed_forms.h"

namespace fa {
namespace {

// Bytes of a pass without the numbers that stand one to a row.
Bytes without_row_statistics(std::string_view program, const Tiling& t, Pass pass) {
  Hardware endless;  // a row of any length stays in registers
  endless.registers_per_sm = Bytes(std::numeric_limits<std::int64_t>::max());
  Counts counts = *closed_form(program, paper_figure2_problem(), t, endless, pass);
  for (Tensor statistic : {Tensor::m, Tensor::l, Tensor::LSE, Tensor::D}) counts[statistic] = {};
  return counts.moved();
}

PaperFigure figure(std::string_view what, std::string_view program, const Tiling& t, double printed_gb,
                   std::vector<std::string_view> assumptions) {
  return {what,
          program,
          t,
          printed_gb,
          without_row_statistics(program, t, Pass::forward),
          without_row_statistics(program, t, Pass::backward),
          std::move(assumptions)};
}

}  // namespace

Problem paper_figure2_problem() {
  return {.batch = 64, .heads = 16, .kv_heads = 16, .n_q = 1024, .n_kv = 1024, .d = 64, .element = Element::fp16};
}

std::vector<PaperFigure> paper_figure2() {
  const int n = paper_figure2_problem().n_q;
  return {figure("Standard", "eager_alpha", {.rows_q = n, .rows_kv = n}, 40.3,
                 {"every tensor has 2 bytes a number, dropout's mask 1",
                  "each kernel reads each of its operands once: a product re-reads nothing",
                  "the scale is part of the product Q Kᵀ (alpha of a GEMM)",
                  "an additive mask is a kernel of its own forwards, and none backwards",
                  "dropout is a kernel of its own both ways; forwards it writes its mask, backwards it reads it",
                  "softmax and its gradient hold whole rows on chip"}),
          figure("FlashAttention", "flash1", {.rows_q = 16, .rows_kv = 256}, 4.4,
                 {"Bc = 256, the released kernel's tile at d = 64: four passes over the queries",
                  "O and dQ travel between passes with 2 bytes a number (the released kernel: 4)",
                  "the first pass reads no O and no dQ, which are 0",
                  "the backward reads O once, in the first pass, and keeps D",
                  "numbers that stand one to a row (m, l, D) are not counted",
                  "mask and dropout cost nothing: both are made on chip"})};
}

}  // namespace fa

#pragma once
// What is to be computed. The paper's symbols, used by kernels, traces, panels and lessons alike:
//
//   Q [n_q, d]   K, V [n_kv, d]   S = scale · Q Kᵀ [n_q, n_kv]   P = softmax(S)   O = P V [n_q, d]
//   m, l         running row maximum and running row sum of exp(S − m)
//   LSE          m + ln l, natural logarithm, one number per row
//   dO           the gradient of O, [n_q, d]; dQ, dK, dV, dP, dS likewise
//   D            rowsum(dO ∘ O), one number per row; equal to rowsum(dP ∘ P)
//   Br, Bc       rows of a Q tile, rows of a K/V tile: `rows_q`, `rows_kv`

#include <cmath>
#include <cstdint>
#include <string>

#include "sim/config/heads.h"
#include "sim/core/element.h"
#include "sim/core/tiles.h"
#include "sim/core/units.h"

namespace fa {

struct Problem {
  int batch = 1;
  int heads = 1;     // query heads
  int kv_heads = 1;  // grouped-query attention: each serves heads / kv_heads query heads
  int n_q = 1024;
  int n_kv = 1024;
  int d = 64;
  bool causal = false;  // bottom-right aligned: key j is visible to query i iff j ≤ i + n_kv − n_q
  Element element = Element::bf16;

  friend bool operator==(const Problem&, const Problem&) = default;

  std::int64_t heads_total() const { return static_cast<std::int64_t>(batch) * heads; }
  std::int64_t kv_heads_total() const { return static_cast<std::int64_t>(batch) * kv_heads; }
  Head kv_head_of(Head head) const { return head / group(); }
  // Query heads that share K and V with `head`, and the first of every such group.
  Heads group_of(Head head) const { return {head - head % group(), head - head % group() + group(), 1}; }
  Heads groups() const { return {0, heads_total(), group()}; }
  std::int64_t group() const { return heads / kv_heads; }
  double scale() const { return 1.0 / std::sqrt(static_cast<double>(d)); }

  // Keys that query row `row` may see: [0, visible_keys(row)).
  int visible_keys(int row) const {
    if (!causal) return n_kv;
    const std::int64_t last = static_cast<std::int64_t>(row) + n_kv - n_q + 1;
    return static_cast<int>(last < 0 ? 0 : last > n_kv ? n_kv : last);
  }
  // Keys that at least one of `rows` may see; the tiles beyond are skipped.
  int visible_keys(Rows rows) const { return rows.empty() ? 0 : visible_keys(rows.end - 1); }
  // The first query that sees any key: n_q ≤ n_kv leaves none blind.
  int first_sighted() const { return causal && n_q > n_kv ? n_q - n_kv : 0; }
  // The first query that sees key `key`; those after it see it too.
  int first_query(int key) const {
    const std::int64_t first = static_cast<std::int64_t>(key) + n_q - n_kv;
    return causal && first > 0 ? static_cast<int>(first) : 0;
  }
};

// "batch 1, heads 16, n 4096, d 128, causal, bf16"
std::string describe(const Problem& problem);

}  // namespace fa

#pragma once
// Softmax of a row that is never seen whole: the heart of FlashAttention (FA-2 paper, section 3.1.1).
//
// For the keys seen so far, m is the largest score, l = Σ exp(S − m), and O = Σ exp(S − m) · V. When a tile brings a
// larger score, everything kept was computed with too small an m: multiplying it by exp(m_old − m_new) corrects it
// exactly. After the last tile, O / l is the attention, as if the row had been seen whole.

#include <limits>

#include "sim/config/tiling.h"
#include "sim/machine/machine.h"

namespace fa {

struct OnlineSoftmax {
  // `warps` share S; with more than one along the keys, each sums up an O of its own keys.
  OnlineSoftmax(Block& the_block, const Tiling& t, WarpGrid warps, RowStatistics row_work = {})
      : block(the_block),
        work(row_work),
        S(block.registers("S", t.score_tile(), warps)),
        P(block.registers("P", t.score_tile(), warps)),
        m(block.accumulator("m", {t.rows_q, 1}, -std::numeric_limits<float>::infinity())),
        l(block.accumulator("l", {t.rows_q, 1}, 0.0f)),
        r(block.registers("r", {t.rows_q, 1})),
        O(block.accumulator("O", t.q_tile(block.problem().d), 0.0f, warps.summed_over_columns())) {}

  // Rows i, which have seen no key: m = −∞, l = 0, O = 0.
  void start(Rows i) { block.start(i); }
  // The same in a block that has several of these.
  void start_apart(Rows i) {
    for (const Buffer* kept : {&m, &l, &O}) block.start(*kept, i);
  }

  // One tile of keys and values joins what was seen.
  void attend(const Buffer& Q, const Buffer& K, const Buffer& V) {
    block.matmul(S, Q, transposed(K), block.problem().scale());  // S = scale · Q Kᵀ
    block.mask(S);                                               // −∞ for keys that a query may not see
    block.running_max(m, S);                                     // m ← max(m, rowmax S)
    block.rescale_factor(r, m, work.factor);                     // r = exp(m_old − m)
    block.exp(P, S, m);                                          // P = exp(S − m)
    block.running_sum(l, r, P);                                  // l ← r · l + rowsum P
    block.rescale(O, r);                                         // O ← r · O
    block.matmul_add(O, P, V);                                   // O ← O + P V
    block.merge(O);                                              // if its sum lies with several warps
  }

  const Buffer& normalised() {
    block.normalise(O, l, work.reciprocal);  // O ← O / l
    return O;
  }

  const Buffer& log_sum_exp() {
    block.log_sum_exp(r, m, l, work.logarithm);  // m + ln l; r is free by now
    return r;
  }

  Block& block;
  RowStatistics work;
  Buffer S, P, m, l, r, O;
};

// The tiles of keys that at least one query of rows i may see.
inline Tiles visible(const Problem& problem, Rows i, int rows_kv) {
  return cut(problem.n_kv, rows_kv).first(static_cast<int>(ceil_div(problem.visible_keys(i), rows_kv)));
}

// Part `index` of rows i, cut into parts of `each`; the last may have fewer, or none.
inline Rows part(Rows i, int index, int each) {
  return {std::min(i.begin + index * each, i.end), std::min(i.begin + (index + 1) * each, i.end)};
}

}  // namespace fa

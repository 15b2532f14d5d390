#include <limits>

#include "sim/algorithms/program.h"
#include "sim/algorithms/unfused.h"

namespace fa {

// Attention as the textbook writes it, three kernels: S and P go to HBM whole and come back.
// No tile is skipped for a causal mask: the product computes all of S, and softmax hides what must not be seen.
void naive(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  HbmTensor S = unfused::scores(machine, in, t, in.problem.scale());
  HbmTensor P = unfused::softmax(machine, in.problem, t, S, in.problem.causal);
  unfused::weighted_values(machine, in, t, P, out);
}

namespace unfused {

// S = scale · Q Kᵀ, one block per tile of S.
HbmTensor scores(Machine& machine, const Inputs& in, const Tiling& t, double scale) {
  const Problem& p = in.problem;
  HbmTensor S = machine.hbm(Tensor::S, p.heads_total(), p.n_q, p.n_kv, p.element);
  machine.grid("S = Q Kᵀ", p.heads_total(), cut(p.n_q, t.rows_q), cut(p.n_kv, t.rows_kv),
               [&](Block& block, Head h, Rows i, Rows j) {
                 Buffer Q = block.sram("Q", t.q_tile(p.d)), K = block.sram("K", t.kv_tile(p.d));
                 Buffer tile = block.registers("S", t.score_tile());
                 block.load(Q, in.q(h), i);
                 block.load(K, in.k(h), j);
                 block.matmul(tile, Q, transposed(K), scale);
                 block.store({&S, h}, tile);
               });
  return S;
}

// P = softmax(S), whole rows at a time. Rows too long for the registers are read twice: once for m and l, then again.
HbmTensor softmax(Machine& machine, const Problem& p, const Tiling& t, HbmTensor& S, bool causal) {
  HbmTensor P = machine.hbm(Tensor::P, p.heads_total(), p.n_q, p.n_kv, p.element);
  const float lowest = -std::numeric_limits<float>::infinity();
  const int whole_rows = t.softmax_rows(p.n_kv, machine.hardware().registers_per_sm);
  if (whole_rows > 0) {
    machine.grid("P = softmax(S)", p.heads_total(), cut(p.n_q, whole_rows), [&](Block& block, Head h, Rows i) {
      Buffer row = block.registers("S", {whole_rows, p.n_kv});
      Buffer m = block.accumulator("m", {whole_rows, 1}, lowest);
      Buffer l = block.accumulator("l", {whole_rows, 1}, 0.0f);
      block.start(i);
      block.load(row, {&S, h}, i);
      if (causal) block.mask(row);
      block.running_max(m, row);
      block.exp(row, row, m);
      block.running_sum(l, row);
      block.normalise(row, l);
      block.store({&P, h}, row);
    });
    return P;
  }
  machine.grid("P = softmax(S)", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer tile = block.registers("S", t.score_tile());
    Buffer m = block.accumulator("m", {t.rows_q, 1}, lowest);
    Buffer l = block.accumulator("l", {t.rows_q, 1}, 0.0f);
    Buffer r = block.registers("r", {t.rows_q, 1});
    block.start(i);
    for (Rows j : cut(p.n_kv, t.rows_kv)) {
      block.load(tile, {&S, h}, i, j);
      if (causal) block.mask(tile);
      block.running_max(m, tile);
      block.rescale_factor(r, m);
      block.exp(tile, tile, m);
      block.running_sum(l, r, tile);
    }
    for (Rows j : cut(p.n_kv, t.rows_kv)) {
      block.load(tile, {&S, h}, i, j);
      if (causal) block.mask(tile);
      block.exp(tile, tile, m);
      block.normalise(tile, l);
      block.store({&P, h}, tile);
    }
  });
  return P;
}

// O = P V, one block per tile of O.
void weighted_values(Machine& machine, const Inputs& in, const Tiling& t, HbmTensor& P, Output& out) {
  const Problem& p = in.problem;
  out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, p.element);
  machine.grid("O = P V", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer weights = block.sram("P", t.score_tile()), V = block.sram("V", t.kv_tile(p.d));
    Buffer O = block.accumulator("O", t.q_tile(p.d), 0.0f);
    block.start(i);
    for (Rows j : cut(p.n_kv, t.rows_kv)) {
      block.load(weights, {&P, h}, i, j);
      block.load(V, in.v(h), j);
      block.matmul_add(O, weights, V);
    }
    block.store(out.o(h), O);
  });
}

}  // namespace unfused
}  // namespace fa

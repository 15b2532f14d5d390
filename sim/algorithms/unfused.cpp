#include "sim/algorithms/unfused.h"

#include <limits>

namespace fa::unfused {
namespace {

HbmTensor pairs(Machine& machine, Tensor id) {
  const Problem& p = machine.problem();
  return machine.hbm(id, p.heads_total(), p.n_q, p.n_kv, p.element);
}

}  // namespace

HbmTensor pair_products(Machine& machine, std::string name, Tensor id, const HbmTensor& A, const HbmTensor& B,
                        const Tiling& t, double scale) {
  const Problem& p = machine.problem();
  HbmTensor C = pairs(machine, id);
  machine.grid(std::move(name), p.heads_total(), cut(p.n_q, t.rows_q), cut(p.n_kv, t.rows_kv),
               [&](Block& block, Head h, Rows i, Rows j) {
                 Buffer a = block.sram(name_of(A.id()), t.q_tile(p.d)), b = block.sram(name_of(B.id()), t.kv_tile(p.d));
                 Buffer tile = block.registers(name_of(id), t.score_tile());
                 block.load(a, {&A, h}, i);
                 block.load(b, {&B, p.kv_head_of(h)}, j);
                 block.matmul(tile, a, transposed(b), scale);
                 block.store({&C, h}, tile);
               });
  return C;
}

HbmTensor weighted_rows(Machine& machine, std::string name, Tensor id, const HbmTensor& W, const HbmTensor& B,
                        const Tiling& t, double scale) {
  const Problem& p = machine.problem();
  HbmTensor C = machine.hbm(id, p.heads_total(), p.n_q, p.d, p.element);
  machine.grid(std::move(name), p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer w = block.sram(name_of(W.id()), t.score_tile()), b = block.sram(name_of(B.id()), t.kv_tile(p.d));
    Buffer sum = block.accumulator(name_of(id), t.q_tile(p.d), 0.0f);
    block.start(i);
    for (Rows j : cut(p.n_kv, t.rows_kv)) {
      block.load(w, {&W, h}, i, j);
      block.load(b, {&B, p.kv_head_of(h)}, j);
      block.matmul_add(sum, w, b, scale);
    }
    block.store({&C, h}, sum);
  });
  return C;
}

HbmTensor weighted_columns(Machine& machine, std::string name, Tensor id, const HbmTensor& W, const HbmTensor& B,
                           const Tiling& t, double scale) {
  const Problem& p = machine.problem();
  HbmTensor C = machine.hbm(id, p.kv_heads_total(), p.n_kv, p.d, p.element);
  machine.grid(std::move(name), p.groups(), cut(p.n_kv, t.rows_kv), [&](Block& block, Head group, Rows j) {
    Buffer w = block.sram(name_of(W.id()), t.score_tile()), b = block.sram(name_of(B.id()), t.q_tile(p.d));
    Buffer sum = block.accumulator(name_of(id), t.kv_tile(p.d), 0.0f);
    block.start(j);
    for (Head h : p.group_of(group)) {
      block.serve(h);
      for (Rows i : cut(p.n_q, t.rows_q)) {
        block.load(w, {&W, h}, i, j);
        block.load(b, {&B, h}, i);
        block.matmul_add(sum, transposed(w), b, scale);
      }
    }
    block.store({&C, p.kv_head_of(group)}, sum);
  });
  return C;
}

// Whole rows at a time. Rows too long for the registers are read twice: once for m and l, then again.
HbmTensor softmax(Machine& machine, const HbmTensor& S, const Tiling& t, bool causal) {
  const Problem& p = machine.problem();
  HbmTensor P = pairs(machine, Tensor::P);
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

// A row of P and one of dP side by side; again twice if they do not fit. A hidden weight is 0 already, and hiding its
// gradient too keeps a NaN of a hidden V out of D.
HbmTensor softmax_gradient(Machine& machine, const HbmTensor& P, const HbmTensor& dP, const Tiling& t) {
  const Problem& p = machine.problem();
  HbmTensor dS = pairs(machine, Tensor::dS);
  const int whole_rows = t.softmax_rows(2 * std::int64_t{p.n_kv}, machine.hardware().registers_per_sm);
  const bool whole = whole_rows > 0;
  const TileShape shape = whole ? TileShape{whole_rows, p.n_kv} : t.score_tile();
  machine.grid("dS = P ∘ (dP − D)", p.heads_total(), cut(p.n_q, shape.rows), [&](Block& block, Head h, Rows i) {
    Buffer weights = block.registers("P", shape), gradient = block.registers("dP", shape);
    Buffer D = block.accumulator("D", {shape.rows, 1}, 0.0f);
    const auto load = [&](Rows j) {
      block.load(weights, {&P, h}, i, j);
      block.load(gradient, {&dP, h}, i, j);
      block.mask(gradient, 0.0f);
    };
    block.start(i);
    for (Rows j : cut(p.n_kv, shape.cols)) {
      load(j);
      block.row_dot(D, weights, gradient);
    }
    for (Rows j : cut(p.n_kv, shape.cols)) {
      if (!whole) load(j);
      block.softmax_gradient(gradient, weights, gradient, D);
      block.store({&dS, h}, gradient);
    }
  });
  return dS;
}

}  // namespace fa::unfused

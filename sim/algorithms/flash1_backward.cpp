#include "sim/algorithms/program.h"
#include "sim/algorithms/recomputation.h"

namespace fa {

// FlashAttention, Algorithm 4. One block per head of K and V: each tile of them meets every tile of Q, so dQ goes to HBM
// and comes back with every pass, as O does in the forward, and the first pass finds dQ = 0 and loads nothing.
// Algorithm 4 reads O in every pass to compute D; the released kernel does so in the first pass and keeps D.
// With LSE from the forward, P needs no m and l; and as there, dQ then travels in a place of its own, and the last pass
// over a tile writes the result.
void flash1_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  const Problem& p = in.problem;
  const Element travels = t.fp32_temporaries ? Element::fp32 : p.element;
  HbmTensor kept_D;
  if (!t.o_every_pass) kept_D = machine.hbm(Tensor::D, p.heads_total(), p.n_q, 1, Element::fp32);
  HbmTensor dQ_acc;
  if (t.leaves_result) dQ_acc = machine.hbm(Tensor::dQ_acc, p.heads_total(), p.n_q, t.width(p.d), travels);
  out.dQ = machine.hbm(Tensor::dQ, p.heads_total(), p.n_q, p.d, t.leaves_result ? p.element : travels);
  out.dK = machine.hbm(Tensor::dK, p.kv_heads_total(), p.n_kv, p.d, p.element);
  out.dV = machine.hbm(Tensor::dV, p.kv_heads_total(), p.n_kv, p.d, p.element);

  machine.grid("flash1 backward", p.groups(), [&](Block& block, Head group) {
    const BackwardWarps warps = t.flash1_backward_warps();
    Buffer K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    Buffer Q = block.sram("Q", t.q_tile(p.d)), dO = block.sram("dO", t.q_tile(p.d));
    Buffer O = block.registers("O", t.q_tile(p.d)), dQ = block.accumulator("dQ", t.q_tile(p.d), 0.0f, warps.dQ);
    Buffer m = block.registers(t.leaves_result ? "LSE" : "m", {t.rows_q, 1}), l = block.registers("l", {t.rows_q, 1});
    Buffer m_smem = block.sram(t.leaves_result ? "LSE_smem" : "m_smem", {t.rows_q, 1}, Element::fp32);
    Buffer D = block.accumulator("D", {t.rows_q, 1}, 0.0f), D_smem = block.sram("D_smem", {t.rows_q, 1}, Element::fp32);
    Recomputation tile(block, t, warps);

    block.divide(1, warps.S.warps());  // group of heads
    for (Rows j : cut(p.n_kv, t.rows_kv)) {
      const bool first = j.begin == 0;
      block.load(K, in.k(group), j);
      block.load(V, in.v(group), j);
      tile.start(j);
      for (Head h : p.group_of(group)) {
        block.serve(h);
        for (Rows i : cut(p.n_q, t.rows_q)) {
          const bool sees = p.visible_keys(i) > j.begin;
          if (!sees && !first) continue;  // causal: no row of Q_i may see these keys
          const HbmTarget travelling = t.leaves_result ? HbmTarget{&dQ_acc, h} : out.d_q(h);
          if (first)
            block.start(dQ, i);
          else
            block.load(dQ, travelling, i);
          if (sees || t.leaves_result) {
            block.load(Q, in.q(h), i);
            block.load(dO, in.d_o(h), i);
            block.load(m, t.leaves_result ? in.lse(h) : HbmSource{&in.forward.m, h}, i);
            if (!t.leaves_result) block.load(l, {&in.forward.l, h}, i);
            if (first || t.o_every_pass) {
              block.load(O, in.o(h), i);
              block.start(D, i);
              block.row_dot(D, dO, O);  // D = rowsum(dO ∘ O)
              if (kept_D) block.store({&kept_D, h}, D);
              block.convert(D_smem, D);
            } else {
              block.load(D_smem, {&kept_D, h}, i);
            }
            block.convert(m_smem, m);  // the warps have all queries each
            tile.recompute(Q, K, m_smem);
            if (!t.leaves_result) block.normalise(tile.P, l);  // P = exp(S − m) / l
            tile.gradients(Q, V, dO, D_smem);
            block.matmul_add(dQ, tile.dS_smem, K, p.scale());  // dQ ← dQ + scale · dS K
          }
          const bool last = p.visible_keys(i) <= j.end;  // no pass after this one sees the tile
          block.store(last ? out.d_q(h) : travelling, dQ);
        }
      }
      block.store(out.d_k(group), through_sram(tile.dK));
      block.store(out.d_v(group), through_sram(tile.dV));
    }
  });
}

}  // namespace fa

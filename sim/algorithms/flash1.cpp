#include "sim/algorithms/online_softmax.h"
#include "sim/algorithms/program.h"

namespace fa {

// FlashAttention, Algorithm 1. One block per head: each K, V tile is loaded once and meets every tile of Q, so O, l and
// m go to HBM and come back with every pass. The first pass finds O = 0, l = 0, m = −∞ and loads nothing of them
// (line 2 would write them, and line 8 read them back). O is kept normalised between passes, as the paper does.
void flash1(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  const Element travels = t.fp32_temporaries ? Element::fp32 : p.element;
  out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, travels);
  out.l = machine.hbm(Tensor::l, p.heads_total(), p.n_q, 1, Element::fp32);
  out.m = machine.hbm(Tensor::m, p.heads_total(), p.n_q, 1, Element::fp32);

  machine.grid("flash1", p.heads_total(), [&](Block& block, Head h) {
    Buffer K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d)), Q = block.sram("Q", t.q_tile(p.d));
    OnlineSoftmax acc(block, t);

    for (Rows j : cut(p.n_kv, t.rows_kv)) {
      const bool first = j.begin == 0;
      block.load(K, in.k(h), j);
      block.load(V, in.v(h), j);
      for (Rows i : cut(p.n_q, t.rows_q)) {
        const bool sees = p.visible_keys(i) > j.begin;
        if (!sees && !first) continue;  // causal: no row of Q_i may see these keys
        if (first) {
          acc.start(i);
        } else {
          block.load(acc.O, out.o(h), i);
          block.load(acc.l, {&out.l, h}, i);
          block.load(acc.m, {&out.m, h}, i);
          block.rescale(acc.O, acc.l);  // back to the sum that it was before it was normalised
        }
        if (sees) {
          block.load(Q, in.q(h), i);
          acc.attend(Q, K, V);
        }
        block.store(out.o(h), acc.normalised());
        block.store({&out.l, h}, acc.l);
        block.store({&out.m, h}, acc.m);
      }
    }
  });
}

}  // namespace fa

#include "sim/algorithms/online_softmax.h"
#include "sim/algorithms/program.h"

namespace fa {

// FlashAttention, Algorithm 1. One block per head: each K, V tile is loaded once and meets every tile of Q, so O, l and
// m go to HBM and come back with every pass. The first pass finds O = 0, l = 0, m = −∞ and loads nothing of them
// (line 2 would write them, and line 8 read them back). O is kept normalised between passes, as the paper does.
// A kernel that leaves what others want to read keeps O, l and m in a place of their own; the last pass over a tile writes
// O and LSE instead. It multiplies a tile that sees no key at all like any other.
void flash1(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  const Element travels = t.fp32_temporaries ? Element::fp32 : p.element;
  HbmTensor O = machine.hbm(t.leaves_result ? Tensor::O_acc : Tensor::O, p.heads_total(), p.n_q,
                            t.leaves_result ? t.width(p.d) : p.d, travels);
  HbmTensor l = machine.hbm(Tensor::l, p.heads_total(), p.n_q, 1, Element::fp32);
  HbmTensor m = machine.hbm(Tensor::m, p.heads_total(), p.n_q, 1, Element::fp32);
  if (t.leaves_result) {
    out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, p.element);
    out.LSE = machine.hbm(Tensor::LSE, p.heads_total(), p.n_q, 1, Element::fp32);
  }

  machine.grid("flash1", p.heads_total(), [&](Block& block, Head h) {
    Buffer K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d)), Q = block.sram("Q", t.q_tile(p.d));
    OnlineSoftmax acc(block, t, t.flash1_warps(), t.flash1_statistics(p.d));

    block.divide(2, t.flash1_warps().warps());  // group of heads, key head
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
          block.load(acc.O, {&O, h}, i);
          block.load(acc.l, {&l, h}, i);
          block.load(acc.m, {&m, h}, i);
          block.rescale(acc.O, acc.l);  // back to the sum that it was before it was normalised
        }
        if (sees || t.leaves_result) {
          block.load(Q, in.q(h), i);
          acc.attend(Q, K, V);
        }
        if (t.leaves_result && p.visible_keys(i) <= j.end) {  // no pass after this one sees the tile
          block.store(out.o(h), acc.normalised());
          block.store(out.lse(h), acc.log_sum_exp());
          continue;
        }
        block.store({&O, h}, acc.normalised());
        block.store({&l, h}, acc.l);
        block.store({&m, h}, acc.m);
      }
    }
  });
  if (!t.leaves_result) out.O = std::move(O), out.l = std::move(l), out.m = std::move(m);
}

}  // namespace fa

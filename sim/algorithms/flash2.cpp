#include "sim/algorithms/online_softmax.h"
#include "sim/algorithms/program.h"

namespace fa {

// FlashAttention-2, Algorithm 1. One block per tile of Q meets every K, V tile; O leaves the SM once.
void flash2(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, p.element);
  out.LSE = machine.hbm(Tensor::LSE, p.heads_total(), p.n_q, 1, Element::fp32);

  machine.grid("flash2", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer Q = block.sram("Q", t.q_tile(p.d)), K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    OnlineSoftmax acc(block, t);  // m, l, O of these rows: in registers

    block.load(Q, in.q(h), i);
    acc.start(i);
    for (Rows j : visible(p, i, t.rows_kv)) {
      block.load(K, in.k(h), j);
      block.load(V, in.v(h), j);
      acc.attend(Q, K, V);
    }
    block.store(out.o(h), acc.normalised());
    block.store(out.lse(h), acc.log_sum_exp());
  });
}

}  // namespace fa

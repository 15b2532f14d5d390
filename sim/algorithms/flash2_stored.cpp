#include "sim/algorithms/online_softmax.h"
#include "sim/algorithms/program.h"

namespace fa {

// FlashAttention-2 that keeps P for its backward, to weigh recomputation against it. P of a tile is not known before its
// rows are done, so a second sweep over the keys makes it: whoever wants to keep P computes S twice all the same.
void flash2_stored(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, p.element);
  out.LSE = machine.hbm(Tensor::LSE, p.heads_total(), p.n_q, 1, Element::fp32);
  out.P = machine.hbm(Tensor::P, p.heads_total(), p.n_q, p.n_kv, p.element);

  machine.grid("flash2_stored", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer Q = block.sram("Q", t.q_tile(p.d)), K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    OnlineSoftmax acc(block, t, t.flash2_warps(t.width(p.d)));

    block.load(Q, in.q(h), i);
    acc.start(i);
    for (Rows j : visible(p, i, t.rows_kv)) {
      block.load(K, in.k(h), j);
      block.load(V, in.v(h), j);
      acc.attend(Q, K, V);
    }
    const Buffer& LSE = acc.log_sum_exp();
    block.store(out.o(h), through_sram(acc.normalised()));
    block.store(out.lse(h), LSE);
    for (Rows j : visible(p, i, t.rows_kv)) {
      block.load(K, in.k(h), j);
      block.matmul(acc.S, Q, transposed(K), p.scale());
      block.mask(acc.S);
      block.exp(acc.P, acc.S, LSE);
      block.store({&out.P, h}, acc.P);
    }
  });
}

}  // namespace fa

#include "sim/algorithms/program.h"
#include "sim/algorithms/recomputation.h"

namespace fa {
namespace {

// D = rowsum(dO ∘ O), and the zeros that dQ is summed on.
void pre_kernel(Machine& machine, const BackwardInputs& in, const Tiling& t, HbmTensor& D, HbmTensor& dQ_acc) {
  const Problem& p = in.problem;
  machine.grid("D = rowsum(dO ∘ O)", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer dO = block.registers("dO", t.q_tile(p.d)), O = block.registers("O", t.q_tile(p.d));
    Buffer sum = block.accumulator("D", {t.rows_q, 1}, 0.0f), zero = block.accumulator("dQ_acc", t.q_tile(p.d), 0.0f);
    block.start(i);
    block.load(dO, in.d_o(h), i);
    block.load(O, in.o(h), i);
    block.row_dot(sum, dO, O);
    block.store({&D, h}, sum);
    block.store({&dQ_acc, h}, zero);
  });
}

// dQ, out of its fp32 sum.
void post_kernel(Machine& machine, const Tiling& t, HbmTensor& dQ_acc, Gradients& out) {
  const Problem& p = machine.problem();
  machine.grid("dQ = dQ_acc", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer dQ = block.registers("dQ", t.q_tile(p.d));
    block.load(dQ, {&dQ_acc, h}, i);
    block.store(out.d_q(h), dQ);
  });
}

}  // namespace

// FlashAttention-2, Algorithm 2, with the kernels that surround it. One block per tile of K and V, whose gradients stay
// in registers while every query that sees the tile goes by; what it finds for dQ is added in HBM to what others find.
// flash3 does the same with its own tiles. If the forward has kept P, it is read instead of computed again.
void flash2_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  const Problem& p = in.problem;
  HbmTensor D = machine.hbm(Tensor::D, p.heads_total(), p.n_q, 1, Element::fp32);
  HbmTensor dQ_acc = machine.hbm(Tensor::dQ_acc, p.heads_total(), p.n_q, p.d, Element::fp32);
  out.dQ = machine.hbm(Tensor::dQ, p.heads_total(), p.n_q, p.d, p.element);
  out.dK = machine.hbm(Tensor::dK, p.kv_heads_total(), p.n_kv, p.d, p.element);
  out.dV = machine.hbm(Tensor::dV, p.kv_heads_total(), p.n_kv, p.d, p.element);

  pre_kernel(machine, in, t, D, dQ_acc);
  machine.grid("dK, dV, dQ_acc", p.groups(), cut(p.n_kv, t.rows_kv), [&](Block& block, Head group, Rows j) {
    Buffer K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    Buffer Q = block.sram("Q", t.q_tile(p.d)), dO = block.sram("dO", t.q_tile(p.d));
    Buffer LSE = block.registers("LSE", {t.rows_q, 1}), row_D = block.registers("D", {t.rows_q, 1});
    Buffer dQ = block.registers("dQ", t.q_tile(p.d));
    Recomputation tile(block, t);

    block.load(K, in.k(group), j);
    block.load(V, in.v(group), j);
    tile.start(j);
    for (Head h : p.group_of(group)) {
      block.serve(h);
      for (Rows i : seeing(p, j, t.rows_q)) {
        block.load(Q, in.q(h), i);
        block.load(dO, in.d_o(h), i);
        block.load(LSE, in.lse(h), i);
        block.load(row_D, {&D, h}, i);
        if (in.forward.P)
          block.load(tile.P, {&in.forward.P, h}, i, j);
        else
          tile.recompute(Q, K, LSE);
        tile.gradients(Q, V, dO, row_D);
        block.matmul(dQ, tile.dS_smem, K, p.scale());
        block.reduce({&dQ_acc, h}, dQ);  // dQ ← dQ + scale · dS K
      }
    }
    block.store(out.d_k(group), tile.dK);
    block.store(out.d_v(group), tile.dV);
  });
  post_kernel(machine, t, dQ_acc, out);
}

}  // namespace fa

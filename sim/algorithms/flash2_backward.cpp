#include <limits>

#include "sim/algorithms/program.h"
#include "sim/algorithms/recomputation.h"
#include "sim/config/sections.h"

namespace fa {
namespace {

// What the kernels around the main one prepare, besides the gradients. If LSE is copied, it and D have whole tiles of rows,
// so that the main kernel need not ask which rows there are; and dQ is summed in pieces of 8 rows.
struct Workspace {
  Workspace(Machine& machine, const Tiling& t) {
    const Problem& p = machine.problem();
    const auto whole = [&](int rows) { return t.copies_lse ? static_cast<int>(ceil_div(p.n_q, rows)) * rows : p.n_q; };
    D = machine.hbm(Tensor::D, p.heads_total(), whole(t.rows_q), 1, Element::fp32);
    dQ_acc =
        machine.hbm(Tensor::dQ_acc, p.heads_total(), std::min(whole(8), whole(t.rows_q)), t.width(p.d), Element::fp32);
    if (t.copies_lse) LSE2 = machine.hbm(Tensor::LSE2, p.heads_total(), whole(t.rows_q), 1, Element::fp32);
  }
  HbmSource lse(const BackwardInputs& in, Head h) const { return LSE2 ? HbmSource{&LSE2, h} : in.lse(h); }
  // Rows i with those past the end that stand there with them.
  Rows with_rest(Rows i, const Tiling& t) const { return {i.begin, std::min(i.begin + t.rows_q, D.rows())}; }

  HbmTensor D, dQ_acc, LSE2;
};

// Copies LSE. Rows past the end get LSE = ∞, so that their P is 0.
void copy_lse(Block& block, const BackwardInputs& in, const Tiling& t, Workspace& space, Head h, Rows i) {
  Buffer LSE = block.registers("LSE", {t.rows_q, 1});
  Buffer rest = block.accumulator("rest", {t.rows_q, 1}, std::numeric_limits<float>::infinity());
  Buffer no_dQ = block.accumulator("dQ_acc", t.q_tile(in.problem.d), 0.0f);
  block.load(LSE, in.lse(h), i);
  block.store({&space.LSE2, h}, LSE);
  if (i.end < in.problem.n_q) return;
  block.start(rest, {i.end, space.D.rows()});
  block.store({&space.LSE2, h}, rest);
  block.store({&space.D, h}, rest);
  block.start(no_dQ, {i.end, space.dQ_acc.rows()});
  block.store({&space.dQ_acc, h}, no_dQ);
}

// D = rowsum(dO ∘ O), and the zeros that dQ is summed on.
void pre_kernel(Machine& machine, const BackwardInputs& in, const Tiling& t, Workspace& space) {
  const Problem& p = in.problem;
  machine.grid("D = rowsum(dO ∘ O)", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer dO = block.registers("dO", t.q_tile(p.d), Tiling::row_warps());
    Buffer O = block.registers("O", t.q_tile(p.d), Tiling::row_warps());
    Buffer sum = block.accumulator("D", {t.rows_q, 1}, 0.0f), zero = block.accumulator("dQ_acc", t.q_tile(p.d), 0.0f);
    if (!t.copies_lse) block.start(i);
    if (t.copies_lse) block.start(sum, i), block.start(zero, i);  // the last block starts more, below
    block.load(dO, in.d_o(h), i);
    block.load(O, in.o(h), i);
    block.row_dot(sum, dO, O);
    block.store({&space.D, h}, through_sram(sum));  // so that neighbouring rows leave together
    block.store({&space.dQ_acc, h}, zero);
    if (t.copies_lse) copy_lse(block, in, t, space, h, i);
  });
}

// dQ, out of its fp32 sum.
void post_kernel(Machine& machine, const Tiling& t, HbmTensor& dQ_acc, Gradients& out) {
  const Problem& p = machine.problem();
  machine.grid("dQ = dQ_acc", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer dQ = block.registers("dQ", t.q_tile(p.d), Tiling::row_warps());
    block.load(dQ, {&dQ_acc, h}, i);
    block.store(out.d_q(h), dQ);
  });
}

// FlashAttention-2, Algorithm 2, with the kernels that surround it. One block per tile of K and V, whose gradients stay
// in registers while every query that sees the tile goes by; what it finds for dQ is added in HBM to what others find.
// If the forward has kept P, it is read instead of computed again.
void fused_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out,
                    const BackwardWarps& warps) {
  const bool by_tma = warps.S.each > 1;  // what warpgroups add to dQ goes through SRAM
  const Problem& p = in.problem;
  Workspace space(machine, t);
  out.dQ = machine.hbm(Tensor::dQ, p.heads_total(), p.n_q, p.d, p.element);
  out.dK = machine.hbm(Tensor::dK, p.kv_heads_total(), p.n_kv, p.d, p.element);
  out.dV = machine.hbm(Tensor::dV, p.kv_heads_total(), p.n_kv, p.d, p.element);

  pre_kernel(machine, in, t, space);
  const Head section = Head{1} << log_section(t, p);
  machine.grid("dK, dV, dQ_acc", p.groups(), cut(p.n_kv, t.rows_kv), section, [&](Block& block, Head group, Rows j) {
    Buffer K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    Buffer Q = block.sram("Q", t.q_tile(p.d)), dO = block.sram("dO", t.q_tile(p.d));
    Buffer LSE = block.sram("LSE", {t.rows_q, 1}, Element::fp32), row_D = block.sram("D", {t.rows_q, 1}, Element::fp32);
    Buffer dQ = block.registers("dQ", t.q_tile(p.d), warps.dQ);
    Recomputation tile(block, t, warps);

    block.divide(1, warps.S.warps());  // group of heads
    block.load(K, in.k(group), j);
    block.load(V, in.v(group), j);
    tile.start(j);
    for (Head h : p.group_of(group)) {
      block.serve(h);
      for (Rows i : seeing(p, j, t.rows_q)) {
        block.load(Q, in.q(h), i);
        block.load(dO, in.d_o(h), i);
        block.load(LSE, space.lse(in, h), space.with_rest(i, t));
        block.load(row_D, {&space.D, h}, space.with_rest(i, t));
        if (in.forward.P)
          block.load(tile.P, {&in.forward.P, h}, i, j);
        else
          tile.recompute(Q, K, LSE);
        tile.gradients(Q, V, dO, row_D);
        block.matmul(dQ, tile.dS_smem, K, p.scale());
        const HbmTarget sum{&space.dQ_acc, h};
        by_tma ? block.reduce(sum, through_sram(dQ)) : block.reduce(sum, dQ);  // dQ ← dQ + scale · dS K
      }
    }
    block.store(out.d_k(group), through_sram(tile.dK));
    block.store(out.d_v(group), through_sram(tile.dV));
  });
  post_kernel(machine, t, space.dQ_acc, out);
}

}  // namespace

void flash2_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  fused_backward(machine, in, t, out, t.flash2_backward_warps(t.width(in.problem.d)));
}

// The same with FA-3's tiles, by warpgroups. (Its producer warp only loads and adds to dQ: here both are the block's.)
void flash3_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  fused_backward(machine, in, t, out, t.flash3_backward_warps());
}

}  // namespace fa

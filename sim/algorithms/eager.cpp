#include "sim/algorithms/program.h"
#include "sim/algorithms/unfused.h"

namespace fa {
namespace {

// A pass over a [n_q, n_kv] tensor in place: load a tile, change it, store it.
template <class Change>
void pass(Machine& machine, std::string name, const Tiling& t, HbmTensor& X, Change change) {
  const Problem& p = machine.problem();
  machine.grid(std::move(name), p.heads_total(), cut(p.n_q, t.rows_q), cut(p.n_kv, t.rows_kv),
               [&](Block& block, Head h, Rows i, Rows j) {
                 Buffer tile = block.registers(name_of(X.id()), t.score_tile(), Tiling::row_warps());
                 block.load(tile, {&X, h}, i, j);
                 change(block, h, tile, i, j);
                 block.store({&X, h}, tile);
               });
}

void scale_pass(Machine& machine, std::string name, const Tiling& t, HbmTensor& X) {
  pass(machine, std::move(name), t, X,
       [](Block& block, Head, const Buffer& tile, Rows, Rows) { block.scale(tile, block.problem().scale()); });
}

// A framework's unfused sequence. The mask is made from indices, so no mask tensor is read; dropout has p = 0, so that
// the result can be checked, and moves the same bytes as any p: P both ways and one byte of mask for each weight.
void sequence(Machine& machine, const Inputs& in, const Tiling& t, Output& out, bool scale_in_product) {
  const Problem& p = in.problem;
  const double alpha = scale_in_product ? p.scale() : 1.0;
  HbmTensor S = unfused::pair_products(machine, "S = Q Kᵀ", Tensor::S, in.Q, in.K, t, alpha);
  if (!scale_in_product) scale_pass(machine, "S = scale · S", t, S);
  pass(machine, "S = S + mask", t, S, [](Block& block, Head, const Buffer& tile, Rows, Rows) { block.mask(tile); });
  out.P = unfused::softmax(machine, S, t, false);
  out.keep = machine.hbm(Tensor::keep, p.heads_total(), p.n_q, p.n_kv, Element::byte);
  pass(machine, "P = dropout(P)", t, out.P, [&](Block& block, Head h, const Buffer& tile, Rows, Rows) {
    Buffer keep = block.registers("keep", t.score_tile());
    block.dropout(tile, keep);
    block.store({&out.keep, h}, keep);
  });
  out.O = unfused::weighted_rows(machine, "O = P V", Tensor::O, out.P, in.V, t, 1);
}

// The same backwards. A mask that was added has the identity for its gradient: no pass.
void sequence_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out,
                       bool scale_in_product) {
  const HbmTensor& P = in.forward.P;
  const double alpha = scale_in_product ? in.problem.scale() : 1.0;
  out.dV = unfused::weighted_columns(machine, "dV = Pᵀ dO", Tensor::dV, P, in.dO, t, 1);
  HbmTensor dP = unfused::pair_products(machine, "dP = dO Vᵀ", Tensor::dP, in.dO, in.V, t, 1);
  pass(machine, "dP = dropout(dP)", t, dP, [&](Block& block, Head h, const Buffer& tile, Rows i, Rows j) {
    Buffer keep = block.registers("keep", t.score_tile());
    block.load(keep, {&in.forward.keep, h}, i, j);
    block.dropout_gradient(tile, keep);
  });
  HbmTensor dS = unfused::softmax_gradient(machine, P, dP, t);
  if (!scale_in_product) scale_pass(machine, "dS = scale · dS", t, dS);
  out.dQ = unfused::weighted_rows(machine, "dQ = dS K", Tensor::dQ, dS, in.K, t, alpha);
  out.dK = unfused::weighted_columns(machine, "dK = dSᵀ Q", Tensor::dK, dS, in.Q, t, alpha);
}

}  // namespace

// Scale, mask, softmax and dropout each a kernel of its own.
void eager(Machine& machine, const Inputs& in, const Tiling& t, Output& out) { sequence(machine, in, t, out, false); }
void eager_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  sequence_backward(machine, in, t, out, false);
}

// The same with the scale inside the first product (a batched GEMM's alpha), as GPT-2 codes of FA-1's time did it:
// the accounting that gives the 40.3 GB of the FA-1 paper's Figure 2.
void eager_alpha(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  sequence(machine, in, t, out, true);
}
void eager_alpha_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  sequence_backward(machine, in, t, out, true);
}

}  // namespace fa

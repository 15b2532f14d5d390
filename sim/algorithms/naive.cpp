#include "sim/algorithms/program.h"
#include "sim/algorithms/unfused.h"

namespace fa {

// Attention as the textbook writes it, three kernels: S and P go to HBM whole and come back.
// The product computes all of S, and softmax hides what a causal mask hides. P is kept for the backward; a kernel that
// makes it again keeps LSE instead.
void naive(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  HbmTensor S = unfused::pair_products(machine, "S = Q Kᵀ", Tensor::S, in.Q, in.K, t, p.scale());
  if (t.rebuilds_p) out.LSE = machine.hbm(Tensor::LSE, p.heads_total(), p.n_q, 1, Element::fp32);
  HbmTensor P = unfused::softmax(machine, S, t, p.causal, out.LSE ? &out.LSE : nullptr);
  out.O = unfused::weighted_rows(machine, "O = P V", Tensor::O, P, in.V, t, 1);
  if (!t.rebuilds_p) out.P = std::move(P);
}

// Five kernels on the P that the forward left, or a sixth before them that makes it; dP and dS go to HBM whole and come
// back (FA-1 paper, Algorithm 3).
void naive_backward(Machine& machine, const BackwardInputs& in, const Tiling& t, Gradients& out) {
  const double scale = in.problem.scale();
  const HbmTensor P = t.rebuilds_p ? unfused::probabilities(machine, in, t) : in.forward.P;
  out.dV = unfused::weighted_columns(machine, "dV = Pᵀ dO", Tensor::dV, P, in.dO, t, 1);
  HbmTensor dP = unfused::pair_products(machine, "dP = dO Vᵀ", Tensor::dP, in.dO, in.V, t, 1);
  HbmTensor dS = unfused::softmax_gradient(machine, P, dP, t);
  out.dQ = unfused::weighted_rows(machine, "dQ = dS K", Tensor::dQ, dS, in.K, t, scale);
  out.dK = unfused::weighted_columns(machine, "dK = dSᵀ Q", Tensor::dK, dS, in.Q, t, scale);
}

}  // namespace fa

#pragma once
// The kernels of which naive and eager attention are made: matrix products tiled through SRAM, and softmax over rows.
//
// A tensor of pairs (S, P, dP, dS) has n_q × n_kv numbers per query head. No tile of it is skipped for a causal mask.

#include <string>

#include "sim/config/tiling.h"
#include "sim/machine/machine.h"

namespace fa::unfused {

// S = scale · Q Kᵀ, or dP = dO Vᵀ. One block per tile of the result.
HbmTensor pair_products(Machine& machine, std::string name, Tensor id, const HbmTensor& A, const HbmTensor& B,
                        const Tiling& t, double scale);

// O = P V, or dQ = scale · dS K. One block per tile of queries.
HbmTensor weighted_rows(Machine& machine, std::string name, Tensor id, const HbmTensor& pairs, const HbmTensor& B,
                        const Tiling& t, double scale);

// dV = Pᵀ dO, or dK = scale · dSᵀ Q. One block per tile of keys, summed over the query heads that share them.
HbmTensor weighted_columns(Machine& machine, std::string name, Tensor id, const HbmTensor& pairs, const HbmTensor& B,
                           const Tiling& t, double scale);

// P = softmax(S), and dS = P ∘ (dP − rowsum(P ∘ dP)). With `causal`, the kernel hides what a query may not see. It leaves
// LSE too, if asked.
HbmTensor softmax(Machine& machine, const HbmTensor& S, const Tiling& t, bool causal, HbmTensor* LSE = nullptr);
HbmTensor softmax_gradient(Machine& machine, const HbmTensor& P, const HbmTensor& dP, const Tiling& t);

// P again = exp(scale · Q Kᵀ − LSE), 0 where a query may not see a key.
HbmTensor probabilities(Machine& machine, const BackwardInputs& in, const Tiling& t);

}  // namespace fa::unfused

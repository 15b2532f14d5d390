#pragma once
// The gradients of one tile of queries and one of keys, with S and P computed again instead of kept: what the backward
// of FlashAttention does (FA-1 paper, section 3.1; Algorithm 4).
//
// Softmax needs no second look at the whole row. P = exp(S − LSE) is the weight itself, since LSE has the row's sum in
// it, and the row's share in the gradient is the one number D = rowsum(dO ∘ O), known before any tile is.

#include "sim/config/tiling.h"
#include "sim/machine/machine.h"

namespace fa {

struct Recomputation {
  Recomputation(Block& the_block, const Tiling& t, const BackwardWarps& warps)
      : block(the_block),
        S(block.registers("S", t.score_tile(), warps.S)),
        P(block.registers("P", t.score_tile(), warps.S)),
        dP(block.registers("dP", t.score_tile(), warps.S)),
        dS(block.registers("dS", t.score_tile(), warps.S)),
        P_packed(block.packed("P_packed", t.score_tile(), warps.S.down > 1, warps.S, true)),
        dS_smem(block.packed("dS_smem", t.score_tile(), true, warps.S, true)),
        dK(block.accumulator("dK", t.kv_tile(block.problem().d), 0.0f, warps.dK)),
        dV(block.accumulator("dV", t.kv_tile(block.problem().d), 0.0f, warps.dK)) {}

  // Keys j, which no query has met: dK = 0, dV = 0.
  void start(Rows j) {
    block.start(dK, j);
    block.start(dV, j);
  }

  // P, from what the forward kept of each row: LSE, or m (and then P is still to be divided by l).
  void recompute(const Buffer& Q, const Buffer& K, const Buffer& LSE) {
    block.matmul(S, Q, transposed(K), block.problem().scale());  // S = scale · Q Kᵀ
    block.mask(S);                                               // −∞ for keys that a query may not see
    block.exp(P, S, LSE);                                        // P = exp(S − LSE)
  }

  // P is there again: what it says of dV, and through dP and dS of dK. dS_smem is left for dQ += scale · dS K.
  void gradients(const Buffer& Q, const Buffer& V, const Buffer& dO, const Buffer& D) {
    block.convert(P_packed, P);                           // warps that share its keys trade their parts in SRAM
    block.matmul_add(dV, transposed_kept(P_packed), dO);  // dV ← dV + Pᵀ dO
    block.matmul(dP, dO, transposed(V), 1);               // dP = dO Vᵀ
    block.softmax_gradient(dS, P, dP, D);                 // dS = P ∘ (dP − D)
    block.convert(dS_smem, dS);                           // dQ sums over the keys of all warps
    block.matmul_add(dK, transposed_kept(dS_smem), Q, block.problem().scale());  // dK ← dK + scale · dSᵀ Q
  }

  Block& block;
  Buffer S, P, dP, dS;       // fp32, in registers
  Buffer P_packed, dS_smem;  // in the element type, and as the warps hold them: a key's numbers side by side
  Buffer dK, dV;
};

// The tiles of queries from which at least one sees a key of rows j.
inline Tiles seeing(const Problem& problem, Rows j, int rows_q) {
  return cut(problem.n_q, rows_q).from(problem.first_query(j.begin) / rows_q);
}

}  // namespace fa

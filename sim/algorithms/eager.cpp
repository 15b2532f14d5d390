#include "sim/algorithms/program.h"
#include "sim/algorithms/unfused.h"

namespace fa {
namespace {

// A pass over a [n_q, n_kv] tensor in place: load a tile, change it, store it.
template <class Change>
void pass(Machine& machine, std::string name, const Problem& p, const Tiling& t, HbmTensor& X, Change change) {
  machine.grid(std::move(name), p.heads_total(), cut(p.n_q, t.rows_q), cut(p.n_kv, t.rows_kv),
               [&](Block& block, Head h, Rows i, Rows j) {
                 Buffer tile = block.registers(name_of(X.id()), t.score_tile());
                 block.load(tile, {&X, h}, i, j);
                 change(block, h, tile);
                 block.store({&X, h}, tile);
               });
}

// A framework's unfused sequence. The mask is made from indices, so no mask tensor is read; dropout has p = 0, so that
// the result can be checked, and moves the same bytes as any p: P both ways and one byte of mask for each weight.
void sequence(Machine& machine, const Inputs& in, const Tiling& t, Output& out, bool scale_in_product) {
  const Problem& p = in.problem;
  HbmTensor S = unfused::scores(machine, in, t, scale_in_product ? p.scale() : 1.0);
  if (!scale_in_product)
    pass(machine, "S = scale · S", p, t, S,
         [&](Block& block, Head, const Buffer& tile) { block.scale(tile, p.scale()); });
  pass(machine, "S = S + mask", p, t, S, [&](Block& block, Head, const Buffer& tile) { block.mask(tile); });
  HbmTensor P = unfused::softmax(machine, p, t, S, false);
  HbmTensor keep = machine.hbm(Tensor::keep, p.heads_total(), p.n_q, p.n_kv, Element::byte);
  pass(machine, "P = dropout(P)", p, t, P, [&](Block& block, Head h, const Buffer& tile) {
    Buffer kept = block.registers("keep", t.score_tile());
    block.dropout(tile, kept);
    block.store({&keep, h}, kept);
  });
  unfused::weighted_values(machine, in, t, P, out);
}

}  // namespace

// Scale, mask, softmax and dropout each a kernel of its own.
void eager(Machine& machine, const Inputs& in, const Tiling& t, Output& out) { sequence(machine, in, t, out, false); }

// The same with the scale inside the first product (a batched GEMM's alpha), as GPT-2 codes of FA-1's time did it:
// the accounting that gives the 40.3 GB of the FA-1 paper's Figure 2.
void eager_alpha(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  sequence(machine, in, t, out, true);
}

}  // namespace fa

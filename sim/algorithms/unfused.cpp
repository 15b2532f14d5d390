#include "sim/algorithms/unfused.h"

#include <limits>
#include <optional>

namespace fa::unfused {
namespace {

HbmTensor pairs(Machine& machine, Tensor id, Tensor place_of = Tensor::none) {
  const Problem& p = machine.problem();
  return machine.hbm(id, p.heads_total(), p.n_q, p.n_kv, p.element, place_of);
}

// The rows that a block of the softmax kernels takes, `matrices` of them side by side: whole, or a tile at a time.
struct RowTiles {
  RowTiles(const Tiling& t, int n_kv, int matrices, const Hardware& hardware) : row_by_row(t.row_by_row) {
    const int rows = t.softmax_rows(std::int64_t{matrices} * n_kv, hardware.registers_per_sm);
    whole = rows > 0;
    if (row_by_row)
      shape = {Tiling::rows_of_a_block, Tiling::row_length(n_kv)};
    else
      shape = whole ? TileShape{rows, n_kv} : t.score_tile();
  }
  // Of rows i. A kernel that goes row by row stops at the last; others compute whole tiles.
  TileShape of(Rows i) const { return {row_by_row ? i.size() : shape.rows, shape.cols}; }

  bool row_by_row, whole;
  TileShape shape;
};

// A tile of pairs ← scale · A_i B_jᵀ, as much of d at a time as a kernel holds.
void multiply_pairs(Block& block, const Buffer& tile, const HbmTensor& A, const HbmTensor& B, Head h, Rows i, Rows j,
                    const Tiling& t, double scale) {
  const Problem& p = block.problem();
  const int depth = t.depth_of(p.d);
  Buffer a = block.sram(name_of(A.id()), {t.rows_q, depth}), b = block.sram(name_of(B.id()), {t.rows_kv, depth});
  block.divide(3, Tiling::gemm_warps(t.score_tile()).warps());  // batch, group, key head
  for (Rows c : cut(p.d, depth)) {
    block.load(a, {&A, h}, i, c);
    block.load(b, {&B, p.kv_head_of(h)}, j, c);
    if (c.begin == 0)
      block.matmul(tile, a, transposed(b), scale);
    else
      block.matmul_add(tile, a, transposed(b), scale);
  }
}

}  // namespace

HbmTensor pair_products(Machine& machine, std::string name, Tensor id, const HbmTensor& A, const HbmTensor& B,
                        const Tiling& t, double scale) {
  const Problem& p = machine.problem();
  HbmTensor C = pairs(machine, id);
  machine.grid(std::move(name), p.heads_total(), cut(p.n_q, t.rows_q), cut(p.n_kv, t.rows_kv),
               [&](Block& block, Head h, Rows i, Rows j) {
                 Buffer tile = block.registers(name_of(id), t.score_tile(), Tiling::gemm_warps(t.score_tile()));
                 multiply_pairs(block, tile, A, B, h, i, j, t, scale);
                 block.store({&C, h}, through_sram(tile));
               });
  return C;
}

HbmTensor probabilities(Machine& machine, const BackwardInputs& in, const Tiling& t) {
  const Problem& p = in.problem;
  HbmTensor P = pairs(machine, Tensor::P);
  machine.grid("P = exp(Q Kᵀ − LSE)", p.heads_total(), cut(p.n_q, t.rows_q), cut(p.n_kv, t.rows_kv),
               [&](Block& block, Head h, Rows i, Rows j) {
                 Buffer tile = block.registers("P", t.score_tile(), Tiling::gemm_warps(t.score_tile()));
                 Buffer LSE = block.registers("LSE", {t.rows_q, 1});
                 multiply_pairs(block, tile, in.Q, in.K, h, i, j, t, p.scale());
                 block.load(LSE, in.lse(h), i);
                 block.mask(tile);
                 block.exp(tile, tile, LSE);
                 block.store({&P, h}, through_sram(tile));
               });
  return P;
}

HbmTensor weighted_rows(Machine& machine, std::string name, Tensor id, const HbmTensor& W, const HbmTensor& B,
                        const Tiling& t, double scale) {
  const Problem& p = machine.problem();
  HbmTensor C = machine.hbm(id, p.heads_total(), p.n_q, p.d, p.element);
  machine.grid(std::move(name), p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    const int depth = t.depth_of(t.rows_kv);
    Buffer w = block.sram(name_of(W.id()), {t.rows_q, depth}), b = block.sram(name_of(B.id()), {depth, t.width(p.d)});
    const WarpGrid warps = Tiling::gemm_warps(t.q_tile(p.d));
    Buffer sum = block.accumulator(name_of(id), t.q_tile(p.d), 0.0f, warps);
    block.divide(2, warps.warps());  // group, key head
    block.start(i);
    for (Rows j : cut(p.n_kv, depth)) {
      block.load(w, {&W, h}, i, j);
      block.load(b, {&B, p.kv_head_of(h)}, j);
      block.matmul_add(sum, w, b, scale);
    }
    block.store({&C, h}, through_sram(sum));
  });
  return C;
}

HbmTensor weighted_columns(Machine& machine, std::string name, Tensor id, const HbmTensor& W, const HbmTensor& B,
                           const Tiling& t, double scale) {
  const Problem& p = machine.problem();
  HbmTensor C = machine.hbm(id, p.kv_heads_total(), p.n_kv, p.d, p.element);
  machine.grid(std::move(name), p.groups(), cut(p.n_kv, t.rows_kv), [&](Block& block, Head group, Rows j) {
    const int depth = t.depth_of(t.rows_q);
    Buffer w = block.sram(name_of(W.id()), {depth, t.rows_kv}), b = block.sram(name_of(B.id()), {depth, t.width(p.d)});
    const WarpGrid warps = Tiling::gemm_warps(t.kv_tile(p.d));
    Buffer sum = block.accumulator(name_of(id), t.kv_tile(p.d), 0.0f, warps);
    block.divide(1, warps.warps());  // group
    block.start(j);
    for (Head h : p.group_of(group)) {
      block.serve(h);
      for (Rows i : cut(p.n_q, depth)) {
        block.load(w, {&W, h}, i, j);
        block.load(b, {&B, h}, i);
        block.matmul_add(sum, transposed(w), b, scale);
      }
    }
    block.store({&C, p.kv_head_of(group)}, through_sram(sum));
  });
  return C;
}

// Whole rows at a time. Rows too long for the registers are read twice: once for m and l, then again.
HbmTensor softmax(Machine& machine, const HbmTensor& S, const Tiling& t, bool causal, HbmTensor* LSE) {
  const Problem& p = machine.problem();
  HbmTensor P = pairs(machine, Tensor::P, t.in_place ? S.id() : Tensor::none);
  const float lowest = -std::numeric_limits<float>::infinity();
  const RowTiles tiles(t, p.n_kv, 1, machine.hardware());
  machine.grid("P = softmax(S)", p.heads_total(), cut(p.n_q, tiles.shape.rows), [&](Block& block, Head h, Rows i) {
    const TileShape shape = tiles.of(i);
    const RowStatistics work = t.softmax_statistics(shape.cols);
    Buffer tile = block.registers("S", shape, Tiling::softmax_warps(shape.cols));
    Buffer m = block.accumulator("m", {tiles.shape.rows, 1}, lowest),
           l = block.accumulator("l", {tiles.shape.rows, 1}, 0.0f);
    std::optional<Buffer> r;
    if (!tiles.whole || LSE) r.emplace(block.registers("r", {tiles.shape.rows, 1}));
    block.start(i);
    for (Rows j : cut(p.n_kv, shape.cols)) {
      block.load(tile, {&S, h}, i, j);
      if (causal) block.mask(tile);
      block.running_max(m, tile);
      if (!tiles.whole) block.rescale_factor(*r, m, work.factor);
      block.exp(tile, tile, m);
      tiles.whole ? block.running_sum(l, tile) : block.running_sum(l, *r, tile);
    }
    for (Rows j : cut(p.n_kv, shape.cols)) {
      if (!tiles.whole) {
        block.load(tile, {&S, h}, i, j);
        if (causal) block.mask(tile);
        block.exp(tile, tile, m);
      }
      block.normalise(tile, l, j.begin == 0 ? work.reciprocal : RowWork{.times = 0});  // 1 / l stays in registers
      block.store({&P, h}, tile);
    }
    if (!LSE) return;
    block.log_sum_exp(*r, m, l, work.logarithm);
    block.store({LSE, h}, through_sram(*r));  // so that neighbouring rows leave together
  });
  return P;
}

// A row of P and one of dP side by side; again twice if they do not fit. A hidden weight is 0 already, and hiding its
// gradient too keeps a NaN of a hidden V out of D.
HbmTensor softmax_gradient(Machine& machine, const HbmTensor& P, const HbmTensor& dP, const Tiling& t) {
  const Problem& p = machine.problem();
  HbmTensor dS = pairs(machine, Tensor::dS, t.in_place ? dP.id() : Tensor::none);
  const RowTiles tiles(t, p.n_kv, 2, machine.hardware());
  machine.grid("dS = P ∘ (dP − D)", p.heads_total(), cut(p.n_q, tiles.shape.rows), [&](Block& block, Head h, Rows i) {
    const TileShape shape = tiles.of(i);
    const WarpGrid warps = Tiling::softmax_warps(std::min(shape.cols, 8192));
    Buffer weights = block.registers("P", shape, warps), gradient = block.registers("dP", shape, warps);
    Buffer D = block.accumulator("D", {tiles.shape.rows, 1}, 0.0f);
    const auto load = [&](Rows j) {
      block.load(weights, {&P, h}, i, j);
      block.load(gradient, {&dP, h}, i, j);
      block.mask(gradient, 0.0f);
    };
    block.start(i);
    for (Rows j : cut(p.n_kv, shape.cols)) {
      load(j);
      block.row_dot(D, weights, gradient);
    }
    for (Rows j : cut(p.n_kv, shape.cols)) {
      if (!tiles.whole) load(j);
      block.softmax_gradient(gradient, weights, gradient, D);
      block.store({&dS, h}, gradient);
    }
  });
  return dS;
}

}  // namespace fa::unfused

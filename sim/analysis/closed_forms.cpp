#include "sim/analysis/closed_forms.h"

#include <algorithm>

namespace fa {
namespace {

constexpr int stat_bytes = 4;  // m, l and LSE are fp32

// Sizes of one head, in bytes, and the tile counts of the papers.
struct Sizes {
  Sizes(const Problem& p, const Tiling& t)
      : q(Bytes(p.n_q) * p.d * size_of(p.element)),
        kv(Bytes(p.n_kv) * p.d * size_of(p.element)),
        s(Bytes(p.n_q) * p.n_kv * size_of(p.element)),
        stats(Bytes(p.n_q) * stat_bytes),
        t_r(ceil_div(p.n_q, t.rows_q)),
        t_c(ceil_div(p.n_kv, t.rows_kv)) {}

  Bytes q;      // Q, or O: n_q · d
  Bytes kv;     // K, or V: n_kv · d
  Bytes s;      // S, or P: n_q · n_kv
  Bytes stats;  // one number per query
  std::int64_t t_r, t_c;
};

// Three kernels. Each operand of a product is read once per tile of the result's other side.
Counts naive_head(const Problem& p, const Tiling& t, const Hardware& hardware) {
  const Sizes n(p, t);
  const bool whole_rows = t.softmax_rows(p.n_kv, hardware.registers_per_sm) > 0;
  Counts c;
  c[Tensor::Q].read = n.q * n.t_c;
  c[Tensor::K].read = n.kv * n.t_r;
  c[Tensor::S].written = n.s;
  c[Tensor::S].read = n.s * (whole_rows ? 1 : 2);
  c[Tensor::P].written = n.s;
  c[Tensor::P].read = n.s;
  c[Tensor::V].read = n.kv * n.t_r;
  c[Tensor::O].written = n.q;
  return c;
}

// The same, and a round trip of S or P for every pass, and dropout's mask of one byte each.
Counts eager_head(const Problem& p, const Tiling& t, const Hardware& hardware, int score_passes) {
  const Sizes n(p, t);
  Counts c = naive_head(p, t, hardware);
  c[Tensor::S].read += n.s * score_passes;
  c[Tensor::S].written += n.s * score_passes;
  c[Tensor::P].read += n.s;
  c[Tensor::P].written += n.s;
  c[Tensor::keep].written = Bytes(p.n_q) * p.n_kv;
  return c;
}

// K, V once; Q, O, m, l for every pair of tiles that meet. A Q tile sees ⌈visible / Bc⌉ of them, and its first pass
// reads nothing back; a Q tile that sees none still writes its zeros.
Counts flash1_head(const Problem& p, const Tiling& t) {
  const Sizes n(p, t);
  const int travels = t.fp32_temporaries ? 4 : size_of(p.element);
  Counts c;
  c[Tensor::K].read = n.kv;
  c[Tensor::V].read = n.kv;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t meets = ceil_div(p.visible_keys(i), t.rows_kv);
    const std::int64_t stores = std::max<std::int64_t>(1, meets);
    const Bytes tile = Bytes(i.size()) * p.d;
    c[Tensor::Q].read += tile * size_of(p.element) * meets;
    c[Tensor::O].written += tile * travels * stores;
    c[Tensor::O].read += tile * travels * (stores - 1);
    for (Tensor stat : {Tensor::m, Tensor::l}) {
      c[stat].written += Bytes(i.size()) * stat_bytes * stores;
      c[stat].read += Bytes(i.size()) * stat_bytes * (stores - 1);
    }
  }
  return c;
}

// Q once, O and LSE once; each Q tile reads K and V up to its last visible tile.
Counts flash2_head(const Problem& p, const Tiling& t) {
  const Sizes n(p, t);
  Counts c;
  c[Tensor::Q].read = n.q;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t keys = std::min<std::int64_t>(ceil_div(p.visible_keys(i), t.rows_kv) * t.rows_kv, p.n_kv);
    c[Tensor::K].read += Bytes(keys) * p.d * size_of(p.element);
  }
  c[Tensor::V].read = c[Tensor::K].read;
  c[Tensor::O].written = n.q;
  c[Tensor::LSE].written = n.stats;
  return c;
}

Counts times(Counts counts, std::int64_t heads) {
  for (TensorCounts& tensor : counts.tensors) {
    tensor.read = tensor.read * heads;
    tensor.written = tensor.written * heads;
  }
  return counts;
}

}  // namespace

std::optional<Counts> closed_form(std::string_view program, const Problem& p, const Tiling& t,
                                  const Hardware& hardware) {
  const std::int64_t heads = p.heads_total();
  if (program == "naive") return times(naive_head(p, t, hardware), heads);
  if (program == "eager") return times(eager_head(p, t, hardware, 2), heads);        // scale, mask
  if (program == "eager_alpha") return times(eager_head(p, t, hardware, 1), heads);  // mask
  if (program == "flash1") return times(flash1_head(p, t), heads);
  if (program == "flash2") return times(flash2_head(p, t), heads);
  return std::nullopt;
}

Counts compulsory(const Problem& p) {
  const Sizes n(p, {});
  Counts c;
  c[Tensor::Q].read = n.q * p.heads_total();
  c[Tensor::K].read = n.kv * p.kv_heads_total();
  c[Tensor::V].read = n.kv * p.kv_heads_total();
  c[Tensor::O].written = n.q * p.heads_total();
  c[Tensor::LSE].written = n.stats * p.heads_total();
  return c;
}

}  // namespace fa

#include "sim/analysis/closed_forms.h"

#include <algorithm>
#include <initializer_list>

namespace fa {
namespace {

constexpr int stat_bytes = 4;  // m, l, LSE and D are fp32, as is dQ while it is summed

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

// What it leaves besides, if its backward makes P again; and what that then takes.
Counts naive_lse_head(const Problem& p, const Tiling& t) {
  Counts c;
  if (t.rebuilds_p) c[Tensor::LSE].written = Sizes(p, t).stats;
  return c;
}
Counts naive_rebuilding_head(const Problem& p, const Tiling& t) {
  const Sizes n(p, t);
  Counts c;
  if (!t.rebuilds_p) return c;
  c[Tensor::K].read = n.kv * n.t_r;
  c[Tensor::Q].read = n.q * n.t_c;
  c[Tensor::LSE].read = n.stats * n.t_c;
  c[Tensor::P].written = n.s;
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
// reads nothing back; a Q tile that sees none still writes its zeros. If the last pass leaves the result, one pass less
// writes what travels.
Counts flash1_head(const Problem& p, const Tiling& t) {
  const Sizes n(p, t);
  const int travels = t.fp32_temporaries ? 4 : size_of(p.element);
  const int travelling_d = t.leaves_result ? t.width(p.d) : p.d;
  const Tensor O = t.leaves_result ? Tensor::O_acc : Tensor::O;
  Counts c;
  c[Tensor::K].read = n.kv;
  c[Tensor::V].read = n.kv;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t meets = ceil_div(p.visible_keys(i), t.rows_kv);
    const std::int64_t passes = std::max<std::int64_t>(1, meets), stores = t.leaves_result ? passes - 1 : passes;
    const Bytes tile = Bytes(i.size()) * p.d, travelling = Bytes(i.size()) * travelling_d * travels;
    c[Tensor::Q].read += tile * size_of(p.element) * (t.leaves_result ? passes : meets);
    c[O].written += travelling * stores;
    c[O].read += travelling * (passes - 1);
    for (Tensor stat : {Tensor::m, Tensor::l}) {
      c[stat].written += Bytes(i.size()) * stat_bytes * stores;
      c[stat].read += Bytes(i.size()) * stat_bytes * (passes - 1);
    }
  }
  if (t.leaves_result) {
    c[Tensor::O].written = n.q;
    c[Tensor::LSE].written = n.stats;
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

// Numbers of P in the tiles that a query and a key of theirs may meet in, for one head.
std::int64_t met_pairs(const Problem& p, const Tiling& t) {
  std::int64_t pairs = 0;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t keys = std::min<std::int64_t>(ceil_div(p.visible_keys(i), t.rows_kv) * t.rows_kv, p.n_kv);
    pairs = checked_add(pairs, checked_multiply(i.size(), keys));
  }
  return pairs;
}

// flash2's bytes, whoever of the block asks for them; from operands in 8 bits, O comes out in 16.
Counts flash3_head(const Problem& p, const Tiling& t) {
  Counts c = flash2_head(p, t);
  if (p.element == Element::e4m3) c[Tensor::O].written = Bytes(p.n_q) * p.d * size_of(Element::bf16);
  return c;
}

// flash2, and a second sweep over K that writes P.
Counts flash2_stored_head(const Problem& p, const Tiling& t) {
  Counts c = flash2_head(p, t);
  c[Tensor::K].read += c[Tensor::K].read;
  c[Tensor::P].written = Bytes(met_pairs(p, t)) * size_of(p.element);
  return c;
}

// ---- Backward: what a query head moves. What is moved once for each key head comes on top (of_all_heads). ----

// Five kernels: dV, dP, dS, dQ, dK.
Counts naive_backward_head(const Problem& p, const Tiling& t, const Hardware& hardware) {
  const Sizes n(p, t);
  const bool whole_rows = t.softmax_rows(2 * std::int64_t{p.n_kv}, hardware.registers_per_sm) > 0;
  Counts c;
  c[Tensor::P].read = n.s * (whole_rows ? 2 : 3);   // for dV, for dS
  c[Tensor::dP].read = n.s * (whole_rows ? 1 : 2);  // for dS
  c[Tensor::dP].written = n.s;
  c[Tensor::dS].read = n.s * 2;  // for dQ, for dK
  c[Tensor::dS].written = n.s;
  c[Tensor::dO].read = n.q * n.t_c * 2;  // for dV, for dP
  c[Tensor::Q].read = n.q * n.t_c;       // for dK
  c[Tensor::V].read = n.kv * n.t_r;      // for dP
  c[Tensor::K].read = n.kv * n.t_r;      // for dQ
  c[Tensor::dQ].written = n.q;
  return c;
}

// The same, a round trip of dP for dropout, which reads its mask, and one of dS for every other pass.
Counts eager_backward_head(const Problem& p, const Tiling& t, const Hardware& hardware, int score_passes) {
  const Sizes n(p, t);
  Counts c = naive_backward_head(p, t, hardware);
  c[Tensor::dP].read += n.s;
  c[Tensor::dP].written += n.s;
  c[Tensor::keep].read = Bytes(p.n_q) * p.n_kv;
  c[Tensor::dS].read += n.s * score_passes;
  c[Tensor::dS].written += n.s * score_passes;
  return c;
}

// Q, dO, m and l (or LSE) for every pair of tiles that meet, dQ there and back between them; D out once and back in later
// passes, or O in each of them.
Counts flash1_backward_head(const Problem& p, const Tiling& t) {
  const int travels = t.fp32_temporaries ? 4 : size_of(p.element);
  Counts c;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t meets = ceil_div(p.visible_keys(i), t.rows_kv);
    const std::int64_t passes = std::max<std::int64_t>(1, meets), again = passes - 1;
    const std::int64_t works = t.leaves_result ? passes : meets;
    const Bytes tile = Bytes(i.size()) * p.d, stat = Bytes(i.size()) * stat_bytes;
    for (Tensor operand : {Tensor::Q, Tensor::dO}) c[operand].read += tile * size_of(p.element) * works;
    if (t.leaves_result) {
      const Bytes travelling = Bytes(i.size()) * t.width(p.d) * travels;
      c[Tensor::LSE].read += stat * works;
      c[Tensor::dQ_acc].read += travelling * again;
      c[Tensor::dQ_acc].written += travelling * again;
      c[Tensor::dQ].written += tile * size_of(p.element);
    } else {
      for (Tensor statistic : {Tensor::m, Tensor::l}) c[statistic].read += stat * works;
      c[Tensor::dQ].read += tile * travels * again;
      c[Tensor::dQ].written += tile * travels * passes;
    }
    const int o_bytes = t.leaves_result ? size_of(p.element) : travels;
    c[Tensor::O].read += tile * o_bytes * (t.o_every_pass ? works : works - again);
    if (t.o_every_pass) continue;
    c[Tensor::D].written += stat * (works - again);
    c[Tensor::D].read += stat * again;
  }
  return c;
}

// Before: dO, O to D, and zeros for dQ; a copy of LSE, if one is made. Q, dO, LSE and D for every pair of tiles that meet,
// each of which adds to dQ. After: dQ out of its sum.
Counts flash2_backward_head(const Problem& p, const Tiling& t) {
  const Sizes n(p, t);
  const Bytes row = Bytes(t.width(p.d)) * stat_bytes;
  const Tensor lse = t.copies_lse ? Tensor::LSE2 : Tensor::LSE;
  Counts c;
  c[Tensor::O].read = n.q;
  c[Tensor::dO].read = n.q;
  c[Tensor::D].written = t.copies_lse ? Bytes(n.t_r * t.rows_q) * stat_bytes : n.stats;
  c[Tensor::dQ_acc].written = row * (t.copies_lse ? std::min(ceil_div(p.n_q, 8) * 8, n.t_r * t.rows_q) : p.n_q);
  if (t.copies_lse) {
    c[Tensor::LSE].read = n.stats;
    c[Tensor::LSE2].written = c[Tensor::D].written;
  }
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t meets = ceil_div(p.visible_keys(i), t.rows_kv);
    const Bytes tile = Bytes(i.size()) * p.d, stat = Bytes(t.copies_lse ? t.rows_q : i.size()) * stat_bytes;
    for (Tensor operand : {Tensor::Q, Tensor::dO}) c[operand].read += tile * size_of(p.element) * meets;
    for (Tensor statistic : {lse, Tensor::D}) c[statistic].read += stat * meets;
    c[Tensor::dQ_acc].reduced += row * i.size() * meets;
  }
  c[Tensor::dQ_acc].read = row * p.n_q;
  c[Tensor::dQ].written = n.q;
  return c;
}

Counts flash2_stored_backward_head(const Problem& p, const Tiling& t) {
  Counts c = flash2_backward_head(p, t);
  c[Tensor::P].read = Bytes(met_pairs(p, t)) * size_of(p.element);
  return c;
}

Counts times(Counts counts, std::int64_t heads) {
  for (TensorCounts& tensor : counts.tensors) {
    tensor.read = tensor.read * heads;
    tensor.written = tensor.written * heads;
    tensor.reduced = tensor.reduced * heads;
  }
  return counts;
}

// What all query heads move, and what is moved once for each key head.
Counts of_all_heads(const Problem& p, const Counts& query_head, std::initializer_list<Tensor> read_once) {
  const Sizes n(p, {});
  Counts c = times(query_head, p.heads_total());
  for (Tensor tensor : read_once) c[tensor].read = n.kv * p.kv_heads_total();
  for (Tensor tensor : {Tensor::dK, Tensor::dV}) c[tensor].written = n.kv * p.kv_heads_total();
  return c;
}

std::optional<Counts> backward_form(std::string_view program, const Problem& p, const Tiling& t,
                                    const Hardware& hardware) {
  const auto unfused = [&](const Counts& head) { return of_all_heads(p, head, {}); };
  const auto fused = [&](const Counts& head) { return of_all_heads(p, head, {Tensor::K, Tensor::V}); };
  if (program == "naive") return unfused(naive_backward_head(p, t, hardware) + naive_rebuilding_head(p, t));
  if (program == "eager") return unfused(eager_backward_head(p, t, hardware, 1));  // scale; a mask has no gradient
  if (program == "eager_alpha") return unfused(eager_backward_head(p, t, hardware, 0));
  if (program == "flash1") return fused(flash1_backward_head(p, t));
  if (program == "flash2" || program == "flash3") return fused(flash2_backward_head(p, t));
  if (program == "flash2_stored") return fused(flash2_stored_backward_head(p, t));
  return std::nullopt;
}

}  // namespace

std::optional<Counts> closed_form(std::string_view program, const Problem& p, const Tiling& t, const Hardware& hardware,
                                  Pass pass) {
  if (pass == Pass::backward) return backward_form(program, p, t, hardware);
  const std::int64_t heads = p.heads_total();
  if (program == "naive") return times(naive_head(p, t, hardware) + naive_lse_head(p, t), heads);
  if (program == "eager") return times(eager_head(p, t, hardware, 2), heads);        // scale, mask
  if (program == "eager_alpha") return times(eager_head(p, t, hardware, 1), heads);  // mask
  if (program == "flash1") return times(flash1_head(p, t), heads);
  if (program == "flash2") return times(flash2_head(p, t), heads);
  if (program == "flash2_stored") return times(flash2_stored_head(p, t), heads);
  if (program == "flash3") return times(flash3_head(p, t), heads);
  return std::nullopt;
}

Counts compulsory(const Problem& p, Pass pass) {
  const Sizes n(p, {});
  Counts c;
  if (pass == Pass::backward) {
    c[Tensor::dO].read = n.q * p.heads_total();
    c[Tensor::dQ].written = n.q * p.heads_total();
    c[Tensor::dK].written = n.kv * p.kv_heads_total();
    c[Tensor::dV].written = n.kv * p.kv_heads_total();
  } else {
    c[Tensor::O].written = n.q * p.heads_total();
    c[Tensor::LSE].written = n.stats * p.heads_total();
  }
  c[Tensor::Q].read = n.q * p.heads_total();
  c[Tensor::K].read = n.kv * p.kv_heads_total();
  c[Tensor::V].read = n.kv * p.kv_heads_total();
  return c;
}

}  // namespace fa

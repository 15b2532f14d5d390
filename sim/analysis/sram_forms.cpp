#include "sim/analysis/sram_forms.h"

#include <algorithm>
#include <initializer_list>

namespace fa {
namespace {

constexpr int fp32_bytes = 4;

// What one head moves; everything that these functions add up is in bytes.
class Tally {
 public:
  explicit Tally(const Problem& p) : p_(p), each_(size_of(p.element)) {}

  SramForm of_heads(std::int64_t heads) const { return {read_ * heads, written_ * heads}; }

  Bytes tile(TileShape shape) const { return shape.bytes(each_); }
  Bytes rows_of_d(std::int64_t rows) const { return Bytes(rows) * p_.d * each_; }

  void copy(Bytes bytes) { written_ += bytes; }  // from HBM
  // Every warp of the grid that shares the result reads its rows of A and its columns of B.
  void product(std::int64_t times, WarpGrid result, Bytes a, Bytes b) {
    read_ += (a * result.across + b * result.down) * times;
  }
  // Through SRAM: whole in, and out what is wanted.
  void pass(Bytes in, Bytes out) { written_ += in, read_ += out; }
  // A number of each row, put together from the warps that share the rows.
  void row_statistics(std::int64_t times, std::int64_t rows, int warps) {
    if (warps == 1) return;
    pass(Bytes(rows) * fp32_bytes * warps * times, Bytes(rows) * fp32_bytes * warps * warps * times);
  }

 private:
  const Problem& p_;
  int each_;
  Bytes read_, written_;
};

// Tiles of keys that a query before `row` sees.
std::int64_t seen(const Problem& p, const Tiling& t, int row) {
  return row == 0 ? 0 : ceil_div(p.visible_keys(row - 1), t.rows_kv);
}

// ---- Unfused ----

// A tile of pairs for each pair of tiles, its sum over d in pieces; it leaves through SRAM.
void pair_products(Tally& tally, const Problem& p, const Tiling& t) {
  const WarpGrid warps = Tiling::gemm_warps(t.score_tile());
  const std::int64_t t_r = ceil_div(p.n_q, t.rows_q), t_c = ceil_div(p.n_kv, t.rows_kv);
  const int depth = t.depth_of(p.d);
  const std::int64_t pieces = ceil_div(p.d, depth);
  tally.copy(tally.rows_of_d(p.n_q) * t_c + tally.rows_of_d(p.n_kv) * t_r);
  tally.product(t_r * t_c * pieces, warps, tally.tile({t.rows_q, depth}), tally.tile({t.rows_kv, depth}));
  tally.pass(tally.tile(t.score_tile()) * t_r * t_c, tally.tile({p.n_q, p.n_kv}));
}

// Rows of d numbers, sums over all `summed` rows of the other side (so many heads of them): O = P V, dK = dSᵀ Q.
void weighted(Tally& tally, const Problem& p, int rows, int tile_rows, int summed, int tile_summed, const Tiling& t,
              std::int64_t heads = 1) {
  const TileShape result{tile_rows, t.width(p.d)};
  const WarpGrid warps = Tiling::gemm_warps(result);
  const std::int64_t tiles = ceil_div(rows, tile_rows);
  const int depth = t.depth_of(tile_summed);
  tally.copy((tally.tile({rows, summed}) + tally.rows_of_d(summed) * tiles) * heads);
  tally.product(tiles * ceil_div(summed, depth) * heads, warps, tally.tile({tile_rows, depth}),
                tally.tile({depth, t.width(p.d)}));
  tally.pass(tally.tile(result) * tiles, tally.rows_of_d(rows));
}

// Maximum and sum of each row; or D alone. Rows that do not fit are put together piece by piece.
void rows_by_all_warps(Tally& tally, const Problem& p, const Tiling& t, const Hardware& hardware, bool backward) {
  const int fit = t.softmax_rows((backward ? 2 : 1) * std::int64_t{p.n_kv}, hardware.registers_per_sm);
  const bool whole = fit > 0;
  const int piece = t.row_by_row ? Tiling::row_length(p.n_kv) : whole ? p.n_kv : t.rows_kv;
  const int warps = Tiling::softmax_warps(backward ? std::min(piece, 8192) : piece).across;
  tally.row_statistics(ceil_div(p.n_kv, piece) * (backward ? 1 : 2), p.n_q, warps);
  if (backward || !t.rebuilds_p) return;
  const int rows = t.row_by_row ? Tiling::rows_of_a_block : whole ? fit : t.rows_q;
  tally.pass(Bytes(ceil_div(p.n_q, rows)) * rows * fp32_bytes, Bytes(p.n_q) * fp32_bytes);  // LSE
}

SramForm unfused(const Problem& p, const Tiling& t, const Hardware& hardware, Pass pass) {
  Tally tally(p), of_keys(p);
  if (pass == Pass::forward) {
    pair_products(tally, p, t);
    rows_by_all_warps(tally, p, t, hardware, false);
    weighted(tally, p, p.n_q, t.rows_q, p.n_kv, t.rows_kv, t);
    return tally.of_heads(p.heads_total());
  }
  if (t.rebuilds_p) pair_products(tally, p, t);
  pair_products(tally, p, t);
  rows_by_all_warps(tally, p, t, hardware, true);
  weighted(tally, p, p.n_q, t.rows_q, p.n_kv, t.rows_kv, t);
  for (int gradient = 0; gradient < 2; ++gradient)
    weighted(of_keys, p, p.n_kv, t.rows_kv, p.n_q, t.rows_q, t, p.group());
  const SramForm a = tally.of_heads(p.heads_total()), b = of_keys.of_heads(p.kv_heads_total());
  return {a.read + b.read, a.written + b.written};
}

// ---- Fused, forward ----

SramForm flash1(const Problem& p, const Tiling& t) {
  const WarpGrid S = t.flash1_warps(), O = S.summed_over_columns();
  Tally tally(p);
  tally.copy(tally.rows_of_d(p.n_kv) * 2);
  const Bytes Q = tally.tile(t.q_tile(p.d)), K = tally.tile(t.kv_tile(p.d)), none;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t meets = std::max<std::int64_t>(seen(p, t, i.end), t.leaves_result ? 1 : 0);
    tally.copy(tally.rows_of_d(i.size()) * meets);
    tally.product(meets, S, Q, K);
    tally.product(meets, O, none, K);  // P stays in registers
    tally.row_statistics(2 * meets, i.size(), S.across);
    if (O.copies > 1)
      tally.pass(t.q_tile(p.d).bytes(fp32_bytes) * O.copies * meets,
                 TileShape{i.size(), t.width(p.d)}.bytes(fp32_bytes) * O.copies * meets);
  }
  return tally.of_heads(p.heads_total());
}

// `stored`: a second sweep over K makes P.
SramForm flash2(const Problem& p, const Tiling& t, bool stored) {
  const Tiling group = stored ? t : t.of_group();
  const int groups = stored ? 1 : t.groups;
  const WarpGrid S = group.flash2_warps(t.width(p.d));
  Tally tally(p);
  const Bytes Q = tally.tile(group.q_tile(p.d)), K = tally.tile(t.kv_tile(p.d)), none;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t tiles = seen(p, t, i.end);
    tally.copy(tally.rows_of_d(i.size()));
    tally.copy(tally.rows_of_d(std::min<std::int64_t>(tiles * t.rows_kv, p.n_kv)) * (stored ? 3 : 2));
    for (int g = 0; g < groups; ++g) {
      const int begin = std::min(i.begin + g * group.rows_q, i.end);
      const std::int64_t meets = std::min(tiles, seen(p, t, std::min(begin + group.rows_q, p.n_q)));
      tally.product(stored ? 2 * meets : meets, S, Q, K);
      tally.product(meets, S, none, K);
    }
    tally.pass(Q * groups, tally.rows_of_d(i.size()));  // O
  }
  return tally.of_heads(p.heads_total());
}

SramForm flash3(const Problem& p, const Tiling& t) {
  const WarpGrid S = t.flash3_warps(t.rows_kv), O = t.flash3_warps(t.width(p.d));
  const bool eight_bits = p.element == Element::e4m3;
  const int out_bytes = eight_bits ? size_of(Element::bf16) : size_of(p.element);
  Tally tally(p);
  const Bytes Q = tally.tile(t.q_tile_each(p.d)), K = tally.tile(t.kv_tile(p.d));
  const Bytes P = t.p_in_sram ? tally.tile({t.rows_each(), t.rows_kv}) : Bytes(0), none;
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t tiles = seen(p, t, i.end);
    tally.copy(tally.rows_of_d(i.size()));
    tally.copy(tally.rows_of_d(std::min<std::int64_t>(tiles * t.rows_kv, p.n_kv)) * 2);
    if (eight_bits) tally.pass(K * tiles, K * tiles);  // Vᵀ
    std::int64_t meets = 0;                            // of a consumer and a tile
    for (int c = 0; c < t.consumers; ++c) {
      const int begin = i.begin + c * t.rows_each(), end = std::min(begin + t.rows_each(), i.end);
      meets += !t.skips_apart ? tiles : begin < end ? seen(p, t, end) : 0;
    }
    tally.product(meets, S, Q, K);
    tally.pass(P * meets, none);
    tally.product(meets, O, P, K);
    if (!t.o_from_registers)
      tally.pass(t.q_tile_each(p.d).bytes(out_bytes) * t.consumers, TileShape{i.size(), p.d}.bytes(out_bytes));
  }
  return tally.of_heads(p.heads_total());
}

// ---- Fused, backward ----

// What differs between them.
struct Backward {
  BackwardWarps warps;
  bool recomputes = true;  // P, else it is read
  bool dq_through_sram = false;
};

// A tile of queries meets one of keys.
void meet(Tally& tally, const Problem& p, const Tiling& t, const Backward& how, Rows i, std::int64_t times) {
  const auto& [S, dK, dQ] = how.warps;
  const Bytes Q = tally.tile(t.q_tile(p.d)), K = tally.tile(t.kv_tile(p.d)), pairs = tally.tile(t.score_tile()), none;
  tally.copy(tally.rows_of_d(i.size()) * 2 * times);           // Q, dO
  tally.product(how.recomputes ? 2 * times : times, S, Q, K);  // S, dP
  if (S.down > 1) tally.pass(pairs * times, none);             // P, for the warps that share its keys
  tally.pass(pairs * times, none);                             // dS
  // dV, dK: what a warp has made of P and dS is still in its registers.
  const Bytes of_others = Bytes(pairs.count() * dK.across / S.down * (S.down - 1));
  tally.product(2 * times, dK, none, Q);
  tally.pass(none, of_others * 2 * times);
  tally.product(times, dQ, pairs, K);
  if (how.dq_through_sram)
    tally.pass(t.q_tile(p.d).bytes(fp32_bytes) * times, TileShape{i.size(), t.width(p.d)}.bytes(fp32_bytes) * times);
}

SramForm fused_backward(const Problem& p, const Tiling& t, const Backward& how, bool flash1) {
  Tally tally(p), of_keys(p);
  for (Rows i : cut(p.n_q, t.rows_q)) {
    const std::int64_t meets = std::max<std::int64_t>(seen(p, t, i.end), flash1 && t.leaves_result ? 1 : 0);
    meet(tally, p, t, how, i, meets);
    // LSE of the rows, which only exp wants, and D, as each warp reads them that shares the rows.
    const Bytes row_numbers = Bytes(!flash1 && t.copies_lse ? t.rows_q : i.size()) * fp32_bytes;
    const Bytes stored = flash1 ? Bytes(t.rows_q) * fp32_bytes : row_numbers;  // through registers
    tally.pass(stored * meets, row_numbers * meets * how.warps.S.across * (how.recomputes ? 2 : 1));
    if (flash1) {  // D from dO and O, or as kept
      const std::int64_t computed = t.o_every_pass ? meets : std::min<std::int64_t>(meets, 1);
      tally.pass(Bytes(t.rows_q) * fp32_bytes * computed, tally.rows_of_d(i.size()) * computed);
      tally.copy(row_numbers * (meets - computed));
    } else {  // D from a kernel before, which writes it through SRAM
      tally.copy(row_numbers * meets);
      tally.pass(Bytes(t.rows_q) * fp32_bytes, Bytes(i.size()) * fp32_bytes);
    }
  }
  of_keys.copy(of_keys.rows_of_d(p.n_kv) * 2);  // K, V; and out go dK, dV
  of_keys.pass(of_keys.tile(t.kv_tile(p.d)) * 2 * ceil_div(p.n_kv, t.rows_kv), of_keys.rows_of_d(p.n_kv) * 2);
  const SramForm a = tally.of_heads(p.heads_total()), b = of_keys.of_heads(p.kv_heads_total());
  return {a.read + b.read, a.written + b.written};
}

}  // namespace

std::optional<SramForm> sram_closed_form(std::string_view program, const Problem& p, const Tiling& t,
                                         const Hardware& hardware, Pass pass) {
  if (program == "naive") return unfused(p, t, hardware, pass);
  if (program == "eager" || program == "eager_alpha") {  // its other passes go from HBM to registers and back
    Tiling kept = t;
    kept.rebuilds_p = false;
    return unfused(p, kept, hardware, pass);
  }
  if (pass == Pass::forward) {
    if (program == "flash1") return flash1(p, t);
    if (program == "flash2" || program == "flash2_stored") return flash2(p, t, program == "flash2_stored");
    if (program == "flash3") return flash3(p, t);
    return std::nullopt;
  }
  if (program == "flash1") return fused_backward(p, t, {.warps = t.flash1_backward_warps()}, true);
  const bool stored = program == "flash2_stored";
  if (program == "flash2" || stored)
    return fused_backward(p, t, {.warps = t.flash2_backward_warps(t.width(p.d)), .recomputes = !stored}, false);
  if (program == "flash3")
    return fused_backward(p, t, {.warps = t.flash3_backward_warps(), .dq_through_sram = true}, false);
  return std::nullopt;
}

}  // namespace fa

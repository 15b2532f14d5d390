#include "kernels/tools/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace fa::kernels {
namespace {

struct Shape {
  int n_q, n_kv;
  friend bool operator==(Shape, Shape) = default;
  friend bool operator<(Shape a, Shape b) { return std::pair(a.n_q, a.n_kv) < std::pair(b.n_q, b.n_kv); }
};
struct Heads {
  int query, kv;
};

// hopper/test_flash_attn.py and tests/test_flash_attn.py of the FlashAttention repository: fixed and varlen lists.
constexpr Shape official_shapes[] = {{1, 1},       {64, 128},    {128, 192},  {256, 256},   {239, 1},     {799, 3},
                                     {113, 203},   {113, 128},   {128, 217},  {113, 211},   {108, 256},   {256, 512},
                                     {384, 256},   {640, 128},   {512, 256},  {1024, 1024}, {1023, 1024}, {1024, 1023},
                                     {4096, 4096}, {4224, 4224}, {1, 3},      {2, 1},       {511, 1},     {3, 513},
                                     {128, 128},   {307, 256},   {2048, 2048}};
constexpr Heads official_heads[] = {{6, 6}, {6, 2}, {6, 1}};
constexpr int native_d[] = {64, 128, 256};
constexpr int padded_d[] = {8, 32, 40, 72, 80, 96, 112, 160, 192, 224, 248};

Problem make(Shape shape, int batch, Heads heads, int d, bool causal, Element element) {
  return {.batch = batch,
          .heads = heads.query,
          .kv_heads = heads.kv,
          .n_q = shape.n_q,
          .n_kv = shape.n_kv,
          .d = d,
          .causal = causal,
          .element = element};
}

// One row or key less than a tile, a whole tile, one more; the same for two tiles.
std::set<Shape> shapes_around_tiles(std::span<const Kernel> list, int d) {
  std::set<Shape> shapes;
  for (const Kernel& kernel : list) {
    if (kernel.d != d) continue;
    const auto [rows_q, rows_kv] = std::pair(kernel.tiling.rows_q, kernel.tiling.rows_kv);
    for (const int step : {-1, 0, 1}) {
      shapes.insert({rows_q + step, 2 * rows_kv + step});
      shapes.insert({2 * rows_q - step, rows_kv + step});
      shapes.insert({rows_q, rows_kv + step});
    }
  }
  return shapes;
}

// Numbers in 16 bytes: what d and every stride are multiples of.
constexpr int step_of(Element element) { return 16 / size_of(element); }

std::vector<Case> quick_cases(Element first, Element second) {
  std::vector<Case> cases;
  for (const int d : native_d)
    for (const bool causal : {false, true}) {
      cases.push_back({make({130, 150}, 1, {2, 1}, d, causal, first), Layout::gaps});
      cases.push_back({make({33, 257}, 2, {1, 1}, d - step_of(second), causal, second)});
    }
  cases.push_back({make({70, 20}, 1, {1, 1}, 64, true, first)});  // rows without keys
  cases.push_back({make({0, 64}, 1, {1, 1}, 64, false, first)});
  cases.push_back({make({64, 0}, 1, {1, 1}, 64, false, first)});
  return cases;
}

// 8 bits have scales: most cases one for every 128 or 256 keys, some one for each head, some none.
void add_scales(std::vector<Case>& cases) {
  constexpr int rows[] = {128, 256, 1 << 20, 0};
  std::size_t i = 0;
  for (Case& c : cases)
    if (c.problem.element == Element::e4m3) c.scale_rows = rows[i++ % std::size(rows)];
}

// e4m3 has no infinity.
bool exists(Case::Special special, Element element) {
  return element != Element::e4m3 || special != Case::Special::infinite_k;
}

std::string_view name_of(Case::Special special) {
  switch (special) {
    case Case::Special::none: return "";
    case Case::Special::outliers: return "outliers";
    case Case::Special::large_logits: return "large logits";
    case Case::Special::nan_in_q: return "NaN in Q";
    case Case::Special::nan_in_k: return "NaN in K";
    case Case::Special::infinite_k: return "infinity in K";
    case Case::Special::tiny_scale: return "tiny scale";
  }
  return "";
}

}  // namespace

std::vector<Case> check_cases(std::span<const Kernel> list, std::span<const Element> elements, bool quick) {
  std::vector<Case> cases;
  if (quick) cases = quick_cases(elements.front(), elements.back());
  for (const Element element : quick ? std::span<const Element>() : elements)
    for (const bool causal : {false, true}) {
      for (const int d : native_d) {
        for (const Shape shape : official_shapes) {
          const bool large = shape.n_kv > 2048;
          for (const Heads heads : official_heads)
            cases.push_back({make(shape, large ? 1 : 3, heads, d, causal, element)});
        }
        for (const Shape shape : shapes_around_tiles(list, d))
          cases.push_back({make(shape, 1, {2, 1}, d, causal, element), Layout::gaps});
      }
      for (const int d : padded_d) {
        if (d % step_of(element) != 0) continue;
        for (const Shape shape : {Shape{113, 203}, Shape{256, 512}, Shape{1023, 1024}, Shape{384, 256}})
          cases.push_back({make(shape, 2, {4, 2}, d, causal, element), d % 16 == 0 ? Layout::packed : Layout::gaps});
      }
      for (const int d : native_d) {
        for (const Shape shape : {Shape{0, 64}, Shape{64, 0}, Shape{0, 0}})
          cases.push_back({make(shape, 2, {2, 1}, d, causal, element), Layout::gaps});
        for (const auto special : {Case::Special::outliers, Case::Special::large_logits, Case::Special::tiny_scale,
                                   Case::Special::nan_in_q, Case::Special::nan_in_k, Case::Special::infinite_k})
          if (exists(special, element))
            cases.push_back({make({300, 333}, 2, {4, 2}, d, causal, element), Layout::gaps, special});
        cases.push_back({make({200, 300}, 2, {2, 1}, d, causal, element), Layout::far});
      }
    }
  add_scales(cases);
  return cases;
}

std::vector<Problem> bench_problems() {
  constexpr int tokens = 16384, hidden = 2048;
  std::vector<Problem> problems;
  for (const int d : native_d)
    for (const bool causal : {false, true})
      for (int n = 512; n <= tokens; n *= 2)
        problems.push_back(make({n, n}, tokens / n, {hidden / d, hidden / d}, d, causal, Element::bf16));
  return problems;
}

std::vector<Problem> measured_problems() {
  std::vector<Problem> problems;
  const auto add = [&](Shape shape, int batch, Heads heads, int d, bool causal, Element element = Element::bf16) {
    problems.push_back(make(shape, batch, heads, d, causal, element));
  };
  for (const int d : native_d)
    for (const bool causal : {false, true})
      for (const int n : {512, 1024, 2048, 4096, 8192}) add({n, n}, 1, {16, 16}, d, causal);
  for (const bool causal : {false, true}) {
    add({16384, 16384}, 1, {16, 16}, 128, causal);
    add({4096, 4096}, 1, {64, 64}, 64, causal);
    add({4096, 4096}, 1, {1, 1}, 128, causal);
    add({4096, 4096}, 2, {32, 8}, 128, causal);  // grouped
    add({4096, 4096}, 1, {32, 1}, 64, causal);   // one key head
    add({1000, 1000}, 3, {5, 5}, 64, causal);    // ragged
    add({3001, 2777}, 1, {7, 7}, 128, causal);
    add({1111, 5000}, 1, {8, 2}, 256, causal);
    add({2048, 2048}, 1, {16, 16}, 96, causal);  // padded head dimensions
    add({2048, 2048}, 1, {16, 16}, 128, causal, Element::fp16);
  }
  for (const int d : native_d) {
    for (const bool causal : {false, true})
      for (const int n : {1024, 4096}) add({n, n}, 1, {16, 16}, d, causal, Element::e4m3);
    add({1111, 3001}, 2, {8, 2}, d, true, Element::e4m3);
  }
  for (const int n : {16384, 32768, 65536, 131072}) add({n, n}, 1, {1, 1}, 128, false);  // one head: past the L2
  add({131072, 131072}, 1, {1, 1}, 64, true);
  return problems;
}

std::string describe(const Case& c) {
  const Problem& p = c.problem;
  return fmt::format("batch {}, heads {}/{}, n {}x{}, d {}, {}{}{}{}{}", p.batch, p.heads, p.kv_heads, p.n_q, p.n_kv,
                     p.d, name_of(p.element), p.causal ? ", causal" : "",
                     c.layout == Layout::gaps  ? ", with gaps"
                     : c.layout == Layout::far ? ", far apart"
                                               : "",
                     c.special == Case::Special::none ? std::string() : fmt::format(", {}", name_of(c.special)),
                     c.scale_rows == 0 ? std::string() : fmt::format(", a scale for {} keys", c.scale_rows));
}

}  // namespace fa::kernels

#include "sim/config/problem.h"

#include <fmt/format.h>

namespace fa {

std::string describe(const Problem& p) {
  std::string text;
  if (p.batch != 1) text += fmt::format("batch {}, ", p.batch);
  text += p.heads == 1 ? "1 head" : fmt::format("{} heads", p.heads);
  if (p.kv_heads != p.heads) text += fmt::format(" on {} kv heads", p.kv_heads);
  text += p.n_q == p.n_kv ? fmt::format(", n {}", p.n_q) : fmt::format(", n_q {}, n_kv {}", p.n_q, p.n_kv);
  text += fmt::format(", d {}, {}", p.d, name_of(p.element));
  if (p.causal) text += ", causal";
  return text;
}

}  // namespace fa

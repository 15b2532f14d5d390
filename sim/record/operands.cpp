#include "sim/record/operands.h"

#include "sim/core/random.h"

namespace fa {

namespace {

// heads × rows × cols numbers of `next`.
template <class Next>
std::vector<Matrix> random_heads(Head heads, int rows, int cols, Next next) {
  std::vector<Matrix> result;
  for (Head head = 0; head < heads; ++head) {
    result.emplace_back(rows, cols);
    for (float& value : result.back().values()) value = next();
  }
  return result;
}

}  // namespace

Operands random_operands(const Problem& p, std::uint64_t seed) {
  Random random(seed);
  const auto next = [&] { return random.operand(); };
  Operands operands;
  operands.q = random_heads(p.heads_total(), p.n_q, p.d, next);
  operands.k = random_heads(p.kv_heads_total(), p.n_kv, p.d, next);
  operands.v = random_heads(p.kv_heads_total(), p.n_kv, p.d, next);
  return operands;
}

std::vector<Matrix> random_d_o(const Problem& p, std::uint64_t seed) {
  Random random(~seed);  // not the numbers of Q
  return random_heads(p.heads_total(), p.n_q, p.d, [&] { return static_cast<float>(random.normal()); });
}

}  // namespace fa

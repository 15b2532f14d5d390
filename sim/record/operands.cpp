#include "sim/record/operands.h"

#include "sim/core/random.h"

namespace fa {

Operands random_operands(const Problem& problem, std::uint64_t seed) {
  Random random(seed);
  const auto fill = [&](std::vector<Matrix>& heads, Head count, int rows) {
    for (Head head = 0; head < count; ++head) {
      heads.emplace_back(rows, problem.d);
      for (float& value : heads.back().values()) value = random.operand();
    }
  };
  Operands operands;
  fill(operands.q, problem.heads_total(), problem.n_q);
  fill(operands.k, problem.kv_heads_total(), problem.n_kv);
  fill(operands.v, problem.kv_heads_total(), problem.n_kv);
  return operands;
}

}  // namespace fa

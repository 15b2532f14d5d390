#pragma once
// Q, K and V as numbers, before any rounding.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/problem.h"
#include "sim/core/matrix.h"

namespace fa {

struct Operands {
  std::vector<Matrix> q;     // batch × heads of [n_q, d]
  std::vector<Matrix> k, v;  // batch × kv_heads of [n_kv, d]
};

// Seeded random operands: normal, off zero mean, with rare outliers.
Operands random_operands(const Problem& problem, std::uint64_t seed);

}  // namespace fa

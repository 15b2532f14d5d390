#pragma once
// Q, K, V and dO as numbers, before any rounding.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/problem.h"
#include "sim/core/matrix.h"

namespace fa {

struct Operands {
  std::vector<Matrix> q;     // batch × heads of [n_q, d]
  std::vector<Matrix> k, v;  // batch × kv_heads of [n_kv, d]
  std::vector<Matrix> d_o;   // batch × heads of [n_q, d]; only a backward pass needs it
};

// Seeded random operands: normal, off zero mean, with rare outliers. dO is left out.
Operands random_operands(const Problem& problem, std::uint64_t seed);

// A seeded random dO: standard normal, as gradients have neither a mean nor such outliers.
std::vector<Matrix> random_d_o(const Problem& problem, std::uint64_t seed);

}  // namespace fa

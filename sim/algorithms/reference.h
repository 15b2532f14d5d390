#pragma once
// Attention without a machine: in double, the truth; and plainly in the element type, the yardstick.

#include <vector>

#include "sim/config/problem.h"
#include "sim/core/matrix.h"

namespace fa {

// Attention of one head in double. Rows that see no key give O = 0, LSE = −∞.
struct Reference {
  std::vector<double> o;    // [n_q, d]
  std::vector<double> lse;  // [n_q]
};
Reference reference_attention(const Problem& problem, const Matrix& q, const Matrix& k, const Matrix& v);

// What plain, unfused attention gives in the problem's element type: fp32 sums, S, P and O rounded.
Matrix plain_attention(const Problem& problem, const Matrix& q, const Matrix& k, const Matrix& v);

}  // namespace fa

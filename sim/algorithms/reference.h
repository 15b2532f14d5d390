#pragma once
// Attention without a machine: in double, the truth; and plainly in the element type, the yardstick.

#include <vector>

#include "sim/config/problem.h"
#include "sim/core/matrix.h"
#include "sim/record/operands.h"

namespace fa {

// Attention of one head in double. Rows that see no key give O = 0, LSE = −∞.
struct Reference {
  std::vector<double> o;    // [n_q, d]
  std::vector<double> lse;  // [n_q]
};
Reference reference_attention(const Problem& problem, const Matrix& q, const Matrix& k, const Matrix& v);

// What plain, unfused attention gives in the problem's element type: fp32 sums, S, P and O rounded.
Matrix plain_attention(const Problem& problem, const Matrix& q, const Matrix& k, const Matrix& v);

// The gradients of all heads: dQ for each query head, dK and dV for each key head, summed over those that share it.
struct ReferenceGradients {
  std::vector<std::vector<double>> d_q, d_k, d_v;  // [n_q, d]; [n_kv, d]
};
ReferenceGradients reference_gradients(const Problem& problem, const Operands& operands);

// The same plainly: fp32 sums, S, P, dP, dS and the results rounded.
struct PlainGradients {
  std::vector<Matrix> d_q, d_k, d_v;
};
PlainGradients plain_gradients(const Problem& problem, const Operands& operands);

}  // namespace fa

#include "sim/machine/arithmetic.h"

#include <cmath>
#include <vector>

namespace fa::arithmetic {
namespace {

// y ← y + x0·a0 + x1·a1 + x2·a2 + x3·a3: four rows at a time, so that y is loaded and stored once for four.
void add_rows(float* y, int n, const float* x, std::ptrdiff_t stride, const float* a, int count) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const float a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
    const float* x0 = x + k * stride;
    const float* x1 = x0 + stride;
    const float* x2 = x1 + stride;
    const float* x3 = x2 + stride;
    for (int c = 0; c < n; ++c) y[c] = (((y[c] + a0 * x0[c]) + a1 * x1[c]) + a2 * x2[c]) + a3 * x3[c];
  }
  for (; k < count; ++k)
    for (int c = 0; c < n; ++c) y[c] += a[k] * x[k * stride + c];
}

}  // namespace

void multiply_transposed(MatrixView s, ConstMatrixView a, ConstMatrixView b, float scale) {
  const int depth = a.cols();
  Matrix transposed(depth, b.rows());
  for (int c = 0; c < b.rows(); ++c)
    for (int k = 0; k < depth; ++k) transposed.at(k, c) = b.at(c, k);
  for (int r = 0; r < s.rows(); ++r) {
    float* row = s.row(r).data();
    for (int c = 0; c < s.cols(); ++c) row[c] = 0.0f;
    add_rows(row, s.cols(), transposed.view().data(), transposed.cols(), a.row(r).data(), depth);
    for (int c = 0; c < s.cols(); ++c) row[c] *= scale;
  }
}

void multiply_add(MatrixView o, ConstMatrixView p, ConstMatrixView v, std::span<const int> visible) {
  for (int r = 0; r < o.rows(); ++r)
    add_rows(o.row(r).data(), o.cols(), v.data(), v.stride(), p.row(r).data(), visible[static_cast<std::size_t>(r)]);
}

void multiply_add_transposed(MatrixView o, ConstMatrixView p, ConstMatrixView v, std::span<const int> visible) {
  std::vector<float> column(static_cast<std::size_t>(p.rows()));
  int first = 0;  // the first row that sees key k: those before it see fewer keys
  for (int k = 0; k < o.rows(); ++k) {
    while (first < p.rows() && visible[static_cast<std::size_t>(first)] <= k) ++first;
    if (first == p.rows()) return;
    for (int r = first; r < p.rows(); ++r) column[static_cast<std::size_t>(r)] = p.at(r, k);
    add_rows(o.row(k).data(), o.cols(), v.row(first).data(), v.stride(), column.data() + first, p.rows() - first);
  }
}

void row_max(std::span<float> m, ConstMatrixView s) {
  for (int r = 0; r < s.rows(); ++r) {
    float& largest = m[static_cast<std::size_t>(r)];
    for (float score : s.row(r)) largest = score > largest ? score : largest;
  }
}

void exp_minus(MatrixView p, ConstMatrixView s, std::span<const float> m) {
  for (int r = 0; r < s.rows(); ++r) {
    const float max = m[static_cast<std::size_t>(r)];
    const float shift = max == -INFINITY ? 0.0f : max;
    const float* from = s.row(r).data();
    float* to = p.row(r).data();
    for (int c = 0; c < s.cols(); ++c) to[c] = std::exp(from[c] - shift);
  }
}

}  // namespace fa::arithmetic

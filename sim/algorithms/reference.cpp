#include "sim/algorithms/reference.h"

#include <cmath>
#include <limits>

namespace fa {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Products of one row with every row of a [n, d] matrix, which is kept transposed so that the loop over n vectorises.
template <class Real>
class RowProducts {
 public:
  explicit RowProducts(const Matrix& b) : n_(b.rows()), d_(b.cols()), columns_(index(n_) * index(d_)) {
    for (int j = 0; j < n_; ++j)
      for (int c = 0; c < d_; ++c) columns_[index(c) * index(n_) + index(j)] = b.at(j, c);
  }

  // out[j] = a · row j of B, for the first `count` rows.
  void operator()(std::span<const float> a, std::size_t count, std::vector<Real>& out) const {
    std::fill(out.begin(), out.end(), Real{0});
    for (int c = 0; c < d_; ++c) {
      const Real factor = a[index(c)];
      const Real* column = columns_.data() + index(c) * index(n_);
      for (std::size_t j = 0; j < count; ++j) out[j] += factor * column[j];
    }
  }

 private:
  int n_, d_;
  std::vector<Real> columns_;
};

// sum += factor · row
template <class Real>
void add(Real* sum, Real factor, std::span<const float> row) {
  for (std::size_t c = 0; c < row.size(); ++c) sum[c] += factor * static_cast<Real>(row[c]);
}

// One row of P, left in `p`, out of that row's products q · k. Returns LSE. A row without weight is one that sees no key.
template <class Real, class Stored>
Real softmax(const Problem& problem, std::size_t& visible, Stored stored, std::vector<Real>& p) {
  Real max = -std::numeric_limits<Real>::infinity();
  for (std::size_t j = 0; j < visible; ++j) {
    p[j] = stored(p[j] * static_cast<Real>(problem.scale()));
    if (p[j] > max) max = p[j];
  }
  const Real shift = max == -std::numeric_limits<Real>::infinity() ? Real{0} : max;
  Real sum = 0;
  for (std::size_t j = 0; j < visible; ++j) sum += p[j] = std::exp(p[j] - shift);
  if (sum == 0) visible = 0;
  for (std::size_t j = 0; j < visible; ++j) p[j] = stored(p[j] / sum);
  return max + std::log(sum);
}

// One head of attention in arithmetic `Real`, `stored` applied to every number that an unfused framework keeps.
template <class Real, class Stored, class Row>
void attention(const Problem& p, const Matrix& q, const Matrix& k, const Matrix& v, Stored stored, Row finished) {
  const RowProducts<Real> keys(k);
  std::vector<Real> weights(index(p.n_kv)), o(index(p.d));
  for (int i = 0; i < p.n_q; ++i) {
    std::size_t visible = index(p.visible_keys(i));
    keys(q.view().row(i), visible, weights);
    const Real lse = softmax(p, visible, stored, weights);
    std::fill(o.begin(), o.end(), Real{0});
    for (std::size_t j = 0; j < visible; ++j) add(o.data(), weights[j], v.view().row(static_cast<int>(j)));
    finished(i, o, lse);
  }
}

// The gradients of all heads, row by row of Q: P and dP of the row, dS = P ∘ (dP − rowsum(P ∘ dP)), and what they add.
template <class Real, class Stored>
void gradients(const Problem& p, const Operands& x, Stored stored, std::vector<std::vector<Real>>& d_q,
               std::vector<std::vector<Real>>& d_k, std::vector<std::vector<Real>>& d_v) {
  const std::size_t d = index(p.d);
  d_q.assign(index(p.heads_total()), std::vector<Real>(index(p.n_q) * d));
  d_k.assign(index(p.kv_heads_total()), std::vector<Real>(index(p.n_kv) * d));
  d_v = d_k;
  std::vector<Real> weights(index(p.n_kv)), d_weights(index(p.n_kv));
  for (Head head = 0; head < p.heads_total(); ++head) {
    const std::size_t kv = index(p.kv_head_of(head));
    const Matrix &q = x.q[index(head)], &k = x.k[kv], &d_o = x.d_o[index(head)];
    const RowProducts<Real> keys(k), values(x.v[kv]);
    for (int i = 0; i < p.n_q; ++i) {
      std::size_t visible = index(p.visible_keys(i));
      keys(q.view().row(i), visible, weights);
      softmax(p, visible, stored, weights);
      values(d_o.view().row(i), visible, d_weights);
      Real row = 0;
      for (std::size_t j = 0; j < visible; ++j) row += weights[j] * (d_weights[j] = stored(d_weights[j]));
      for (std::size_t j = 0; j < visible; ++j) {
        const Real score = stored(weights[j] * (d_weights[j] - row)) * static_cast<Real>(p.scale());
        add(d_q[index(head)].data() + index(i) * d, score, k.view().row(static_cast<int>(j)));
        add(d_k[kv].data() + j * d, score, q.view().row(i));
        add(d_v[kv].data() + j * d, weights[j], d_o.view().row(i));
      }
    }
  }
}

double in_double(double x) { return x; }

std::vector<Matrix> rounded(Element element, int rows, int cols, const std::vector<std::vector<float>>& heads) {
  std::vector<Matrix> result;
  for (const std::vector<float>& head : heads) {
    result.emplace_back(rows, cols);
    std::copy(head.begin(), head.end(), result.back().values().begin());
    round_all(element, result.back().values());
  }
  return result;
}

}  // namespace

Reference reference_attention(const Problem& p, const Matrix& q, const Matrix& k, const Matrix& v) {
  Reference result;
  attention<double>(p, q, k, v, in_double, [&](int, const std::vector<double>& o, double lse) {
    result.o.insert(result.o.end(), o.begin(), o.end());
    result.lse.push_back(lse);
  });
  return result;
}

Matrix plain_attention(const Problem& p, const Matrix& q, const Matrix& k, const Matrix& v) {
  Matrix result(p.n_q, p.d);
  attention<float>(
      p, q, k, v, [&](float x) { return round_to(p.element, x); },
      [&](int i, const std::vector<float>& o, float) {
        for (int c = 0; c < p.d; ++c) result.at(i, c) = round_to(p.element, o[index(c)]);
      });
  return result;
}

ReferenceGradients reference_gradients(const Problem& p, const Operands& operands) {
  ReferenceGradients result;
  gradients<double>(p, operands, in_double, result.d_q, result.d_k, result.d_v);
  return result;
}

PlainGradients plain_gradients(const Problem& p, const Operands& operands) {
  std::vector<std::vector<float>> d_q, d_k, d_v;
  gradients<float>(
      p, operands, [&](float x) { return round_to(p.element, x); }, d_q, d_k, d_v);
  return {rounded(p.element, p.n_q, p.d, d_q), rounded(p.element, p.n_kv, p.d, d_k),
          rounded(p.element, p.n_kv, p.d, d_v)};
}

}  // namespace fa

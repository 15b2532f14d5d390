#include "sim/algorithms/reference.h"

#include <cmath>
#include <limits>

namespace fa {
namespace {

// One head of attention in arithmetic `Real`, `stored` applied to every number that an unfused framework keeps.
template <class Real, class Stored, class Row>
void attention(const Problem& p, const Matrix& q, const Matrix& k, const Matrix& v, Stored stored, Row finished) {
  const auto d = static_cast<std::size_t>(p.d);
  std::vector<Real> keys(static_cast<std::size_t>(p.n_kv) * d);  // Kᵀ, so that the loop over keys vectorises
  for (int j = 0; j < p.n_kv; ++j)
    for (int c = 0; c < p.d; ++c)
      keys[static_cast<std::size_t>(c) * static_cast<std::size_t>(p.n_kv) + static_cast<std::size_t>(j)] = k.at(j, c);

  std::vector<Real> scores(static_cast<std::size_t>(p.n_kv)), o(d);
  for (int i = 0; i < p.n_q; ++i) {
    const auto visible = static_cast<std::size_t>(p.visible_keys(i));
    std::fill(scores.begin(), scores.end(), Real{0});
    for (int c = 0; c < p.d; ++c) {
      const Real factor = q.at(i, c);
      const Real* column = keys.data() + static_cast<std::size_t>(c) * static_cast<std::size_t>(p.n_kv);
      for (std::size_t j = 0; j < visible; ++j) scores[j] += factor * column[j];
    }
    Real max = -std::numeric_limits<Real>::infinity();
    for (std::size_t j = 0; j < visible; ++j) {
      scores[j] = stored(scores[j] * static_cast<Real>(p.scale()));
      if (scores[j] > max) max = scores[j];
    }
    const Real shift = max == -std::numeric_limits<Real>::infinity() ? Real{0} : max;
    Real sum = 0;
    for (std::size_t j = 0; j < visible; ++j) sum += scores[j] = std::exp(scores[j] - shift);
    std::fill(o.begin(), o.end(), Real{0});
    if (sum != 0)
      for (std::size_t j = 0; j < visible; ++j) {
        const Real weight = stored(scores[j] / sum);
        const auto value = v.view().row(static_cast<int>(j));
        for (std::size_t c = 0; c < d; ++c) o[c] += weight * static_cast<Real>(value[c]);
      }
    finished(i, o, max + std::log(sum));
  }
}

}  // namespace

Reference reference_attention(const Problem& p, const Matrix& q, const Matrix& k, const Matrix& v) {
  Reference result;
  attention<double>(
      p, q, k, v, [](double x) { return x; },
      [&](int, const std::vector<double>& o, double lse) {
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
        for (int c = 0; c < p.d; ++c) result.at(i, c) = round_to(p.element, o[static_cast<std::size_t>(c)]);
      });
  return result;
}

}  // namespace fa

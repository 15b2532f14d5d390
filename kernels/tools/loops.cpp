#include "kernels/tools/loops.h"

#include <cmath>
#include <limits>

namespace fa::kernels {

void attention_by_loops(const Problem& p, double scale, HostTensors& t) {
  const std::size_t d = static_cast<std::size_t>(p.d), n_q = static_cast<std::size_t>(p.n_q),
                    n_kv = static_cast<std::size_t>(p.n_kv);
  const std::size_t heads = static_cast<std::size_t>(p.heads_total()),
                    kv_heads = static_cast<std::size_t>(p.kv_heads_total());
  const bool backward = !t.d_out.empty();
  t.o.assign(heads * n_q * d, 0.0);
  t.lse.assign(heads * n_q, -std::numeric_limits<double>::infinity());
  if (backward) {
    t.dq.assign(t.q.size(), 0.0);
    t.dk.assign(kv_heads * n_kv * d, 0.0);
    t.dv.assign(kv_heads * n_kv * d, 0.0);
  }
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t kv =
        static_cast<std::size_t>(p.kv_head_of(static_cast<Head>(h))) * n_kv * d;  // first number of its K and V
    for (std::size_t i = 0; i < n_q; ++i) {
      const std::size_t row = (h * n_q + i) * d;
      const auto visible = static_cast<std::size_t>(p.visible_keys(static_cast<int>(i)));
      if (visible == 0) continue;

      const auto dot = [&](const double* a, const double* b) {
        double sum = 0;
        for (std::size_t c = 0; c < d; ++c) sum += a[c] * b[c];
        return sum;
      };
      std::vector<double> s(visible);
      double m = -std::numeric_limits<double>::infinity(), l = 0;
      for (std::size_t j = 0; j < visible; ++j) {
        s[j] = scale * dot(&t.q[row], &t.k[kv + j * d]);
        m = std::fmax(m, s[j]);
      }
      for (const double score : s) l += std::exp(score - m);
      t.lse[h * n_q + i] = m + std::log(l);
      for (std::size_t j = 0; j < visible; ++j)
        for (std::size_t c = 0; c < d; ++c) t.o[row + c] += std::exp(s[j] - m) / l * t.v[kv + j * d + c];
      if (!backward) continue;

      const double D = dot(&t.d_out[row], &t.o[row]);
      for (std::size_t j = 0; j < visible; ++j) {
        const double probability = std::exp(s[j] - t.lse[h * n_q + i]);
        const double ds = probability * (dot(&t.d_out[row], &t.v[kv + j * d]) - D);
        for (std::size_t c = 0; c < d; ++c) {
          t.dv[kv + j * d + c] += probability * t.d_out[row + c];
          t.dq[row + c] += scale * ds * t.k[kv + j * d + c];
          t.dk[kv + j * d + c] += scale * ds * t.q[row + c];
        }
      }
    }
  }
}

}  // namespace fa::kernels

// The loops are the root of trust: they are held against a case worked by hand, and against finite differences.
#include "kernels/tools/loops.h"

#include <cmath>
#include <limits>

#include "sim/core/random.h"
#include "tests/catch.h"

using namespace fa;
using namespace fa::kernels;

namespace {

HostTensors random_tensors(const Problem& p) {
  Random random(5);
  HostTensors t;
  const auto fill = [&](std::vector<double>& values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(random.normal());
  };
  fill(t.q, p.heads_total() * p.n_q * p.d);
  fill(t.k, p.kv_heads_total() * p.n_kv * p.d);
  fill(t.v, p.kv_heads_total() * p.n_kv * p.d);
  fill(t.d_out, p.heads_total() * p.n_q * p.d);
  return t;
}

// The number whose gradients backward computes: sum(O ∘ dO).
double objective(const Problem& p, double scale, HostTensors t) {
  const std::vector<double> d_out = t.d_out;
  t.d_out.clear();
  attention_by_loops(p, scale, t);
  double sum = 0;
  for (std::size_t i = 0; i < t.o.size(); ++i) sum += t.o[i] * d_out[i];
  return sum;
}

}  // namespace

TEST_CASE("one query and two keys give the two-way softmax") {
  const Problem p{.n_q = 1, .n_kv = 2, .d = 1};
  HostTensors t;
  t.q = {1.0};
  t.k = {0.0, std::log(3.0) / 2.0};  // scores 0 and ln 3 at scale 2: weights 1/4 and 3/4
  t.v = {8.0, 4.0};
  attention_by_loops(p, 2.0, t);
  CHECK(t.o[0] == Approx(5.0).epsilon(1e-14));
  CHECK(t.lse[0] == Approx(std::log(4.0)).epsilon(1e-14));
}

TEST_CASE("the causal mask is aligned bottom-right, and a query without keys gives 0 and -inf") {
  const Problem p{.n_q = 3, .n_kv = 2, .d = 1, .causal = true};  // queries see 0, 1, 2 keys
  HostTensors t;
  t.q = {1.0, 1.0, 1.0};
  t.k = {0.0, 0.0};
  t.v = {2.0, 6.0};
  attention_by_loops(p, 1.0, t);
  CHECK(t.o == std::vector<double>{0.0, 2.0, 4.0});
  CHECK(t.lse[0] == -std::numeric_limits<double>::infinity());
  CHECK(t.lse[1] == 0.0);
}

TEST_CASE("the gradients are the slopes of the forward pass, grouped heads summed") {
  for (const bool causal : {false, true}) {
    const Problem p{.batch = 2, .heads = 4, .kv_heads = 2, .n_q = 4, .n_kv = 3, .d = 2, .causal = causal};
    HostTensors t = random_tensors(p);
    attention_by_loops(p, 0.7, t);
    constexpr double step = 1e-5;
    const auto slope = [&](std::vector<double> HostTensors::*tensor, std::size_t i) {
      HostTensors up = t, down = t;
      (up.*tensor)[i] += step;
      (down.*tensor)[i] -= step;
      return (objective(p, 0.7, up) - objective(p, 0.7, down)) / (2 * step);
    };
    for (std::size_t i = 0; i < t.q.size(); ++i) CHECK(t.dq[i] == Approx(slope(&HostTensors::q, i)).margin(1e-8));
    for (std::size_t i = 0; i < t.k.size(); ++i) CHECK(t.dk[i] == Approx(slope(&HostTensors::k, i)).margin(1e-8));
    for (std::size_t i = 0; i < t.v.size(); ++i) CHECK(t.dv[i] == Approx(slope(&HostTensors::v, i)).margin(1e-8));
  }
}

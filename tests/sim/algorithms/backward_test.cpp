// Every program's backward gives the gradients of attention: exactly, on awkward shapes, in every element type it takes.

#include <cmath>
#include <limits>

#include "sim/config/sections.h"
#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

Executed backward(const Program& program, const Problem& p, const Tiling& t, const Operands& operands) {
  return execute(program, p, t, gpu(), {.detail = Detail::values, .pass = Pass::backward}, &operands);
}

// L = Σ dO ∘ O in double, by the textbook, from nothing but the operands: dQ, dK and dV are its derivatives.
double loss(const Problem& p, const Operands& x) {
  double sum = 0;
  for (Head head = 0; head < p.heads_total(); ++head) {
    const auto h = static_cast<std::size_t>(head);
    const auto kv = static_cast<std::size_t>(head / p.heads * p.kv_heads + head % p.heads * p.kv_heads / p.heads);
    for (int i = 0; i < p.n_q; ++i) {
      double weights = 0, weighted = 0;
      for (int j = 0; j < p.n_kv; ++j) {
        if (p.causal && j > i + p.n_kv - p.n_q) continue;
        double score = 0, product = 0;
        for (int c = 0; c < p.d; ++c) {
          score += static_cast<double>(x.q[h].at(i, c)) * x.k[kv].at(j, c);
          product += static_cast<double>(x.d_o[h].at(i, c)) * x.v[kv].at(j, c);
        }
        const double weight = std::exp(score / std::sqrt(p.d));
        weights += weight;
        weighted += weight * product;
      }
      if (weights > 0) sum += weighted / weights;
    }
  }
  return sum;
}

// The derivative of the loss by one number of one operand, by central differences.
double slope(const Problem& p, Operands x, std::vector<Matrix> Operands::*operand, std::size_t head, int row, int col) {
  float& value = (x.*operand)[head].at(row, col);
  const float middle = value;
  const float step = 1e-3f * std::max(1.0f, std::fabs(middle));
  value = middle + step;
  const double above = loss(p, x), high = value;
  value = middle - step;
  const double below = loss(p, x), low = value;
  return (above - below) / (high - low);
}

}  // namespace

TEST_CASE("dQ, dK and dV of every program are the slopes of the loss") {
  Random random(21);
  for (int round = 0; round < 12; ++round) {
    Problem p = tests::any_problem(random, 12);
    p.element = Element::fp32;
    const Operands operands = tests::any_operands(p, static_cast<std::uint64_t>(round));
    const Tiling t = tests::any_tiling(random);
    struct {
      std::vector<Matrix> Operands::*operand;
      HbmTensor Gradients::*gradient;
      Head heads;
      int rows;
    } const sides[] = {{&Operands::q, &Gradients::dQ, p.heads_total(), p.n_q},
                       {&Operands::k, &Gradients::dK, p.kv_heads_total(), p.n_kv},
                       {&Operands::v, &Gradients::dV, p.kv_heads_total(), p.n_kv}};
    for (const Program& program : programs) {
      const Executed result = backward(program, p, t, operands);
      for (const auto& side : sides)
        for (int sample = 0; sample < 6; ++sample) {
          const int head = random.below(static_cast<int>(side.heads)), row = random.below(side.rows),
                    col = random.below(p.d);
          const double wanted = slope(p, operands, side.operand, static_cast<std::size_t>(head), row, col);
          INFO(program.name << ", " << describe(p) << ", head " << head << ", row " << row << ", column " << col);
          CHECK((result.gradients.*side.gradient).values(head).at(row, col) ==
                Approx(wanted).epsilon(1e-3).margin(1e-3));
        }
    }
  }
}

TEST_CASE("every backward in fp32 is the double reference to fp32 rounding") {
  Random random(24);
  for (int round = 0; round < 25; ++round) {
    Problem p = tests::any_problem(random);
    p.element = Element::fp32;
    const Operands operands = tests::any_operands(p, static_cast<std::uint64_t>(round));
    const Truth truth = truth_of(p, operands);
    const Tiling t = tests::any_tiling(random);
    for (const Program& program : programs)
      for (const TensorError& e : accuracy(backward(program, p, t, operands), truth).tensors) {
        INFO(program.name << ", " << describe(p) << ", " << name_of(e.tensor));
        CHECK(e.max_abs_error < 1e-4);  // gradients are about 1, and 100 where an outlier of V meets one of K
      }
  }
}

TEST_CASE("every backward is exact in 16 bits: its error is at most twice plain attention's") {
  Random random(22);
  for (int round = 0; round < 40; ++round) {
    Problem p = tests::any_problem(random);
    p.element = random.chance(0.5) ? Element::fp16 : Element::bf16;
    // The rule compares two largest errors, so it needs many numbers, and no single one that outweighs the rest.
    p.n_q = random.between(32, 100);
    p.n_kv = random.between(32, 100);
    Operands operands = tests::any_operands(p, static_cast<std::uint64_t>(round));
    for (std::vector<Matrix>* side : {&operands.q, &operands.k, &operands.v})
      for (Matrix& head : *side)
        for (float& value : head.values()) value = static_cast<float>(random.normal());
    Tiling t = tests::any_tiling(random, 8);
    t.fp32_temporaries = true;  // flash1's dQ, rounded to 16 bits in every pass, is not exact: see below
    const Truth truth = truth_of(p, operands);
    for (const Program& program : programs) {
      const Accuracy a = accuracy(backward(program, p, t, operands), truth);
      REQUIRE(a.tensors.size() == 3);
      for (const TensorError& e : a.tensors) {
        INFO(program.name << ", " << describe(p) << ", " << name_of(e.tensor) << ": error " << e.max_abs_error
                          << ", allowed " << e.tolerance);
        CHECK(e.exact());
      }
    }
  }
}

TEST_CASE("plain gradients in fp32 are the double reference to fp32 rounding") {
  Random random(23);
  for (int round = 0; round < 20; ++round) {
    Problem p = tests::any_problem(random);
    p.element = Element::fp32;
    const Truth truth = truth_of(p, tests::any_operands(p, static_cast<std::uint64_t>(round)));
    for (std::size_t h = 0; h < truth.gradients.d_q.size(); ++h)
      for (std::size_t i = 0; i < truth.gradients.d_q[h].size(); ++i)
        CHECK(truth.plain_gradients.d_q[h].values()[i] == Approx(truth.gradients.d_q[h][i]).epsilon(1e-3).margin(1e-3));
  }
}

TEST_CASE("a query that sees no key has zero gradients and gives none") {
  const Problem p{.n_q = 10, .n_kv = 4, .d = 8, .causal = true};
  Operands operands = tests::any_operands(p, 5);
  for (const Program& program : programs)
    for (bool nan : {false, true}) {
      if (nan)
        for (float& value : operands.d_o[0].view().row(2)) value = std::numeric_limits<float>::quiet_NaN();
      const Executed result = backward(program, p, {.rows_q = 3, .rows_kv = 2, .fp32_temporaries = true}, operands);
      INFO(program.name << (nan ? ", a NaN in dO of such a row" : ""));
      for (int i = 0; i < 6 && !nan; ++i)
        for (int c = 0; c < p.d; ++c) CHECK(result.gradients.dQ.values(0).at(i, c) == 0.0f);
      for (float value : result.gradients.dK.values(0).values()) CHECK_FALSE(std::isnan(value));
      for (float value : result.gradients.dV.values(0).values()) CHECK_FALSE(std::isnan(value));
      if (!nan) CHECK(accuracy(result, truth_of(p, operands)).exact());
    }
}

TEST_CASE("a key that a query may not see cannot spoil its gradient, be it NaN") {
  const Problem p{.n_q = 6, .n_kv = 6, .d = 8, .causal = true};
  Operands operands = tests::any_operands(p, 4);
  operands.v[0].at(5, 0) = std::numeric_limits<float>::quiet_NaN();
  for (const Program& program : programs) {
    const Executed result = backward(program, p, {.rows_q = 4, .rows_kv = 4, .fp32_temporaries = true}, operands);
    for (int i = 0; i < 5; ++i)
      for (int c = 0; c < p.d; ++c) {
        INFO(program.name << ", row " << i);
        CHECK_FALSE(std::isnan(result.gradients.dQ.values(0).at(i, c)));
      }
    CHECK(std::isnan(result.gradients.dQ.values(0).at(5, 0)));
  }
}

TEST_CASE(
    "NaN reaches the gradients that it reaches in double, and infinity makes no finite number of one that is not") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (bool causal : {false, true})
    for (float poison : {nan, inf, -inf})
      for (int which = 0; which < 4; ++which) {
        const Problem p{.n_q = 12, .n_kv = 12, .d = 8, .causal = causal, .element = Element::fp32};
        Operands operands = tests::any_operands(p, 9);
        (which == 0   ? operands.q
         : which == 1 ? operands.k
         : which == 2 ? operands.v
                      : operands.d_o)[0]
            .at(7, 3) = poison;
        const ReferenceGradients truth = truth_of(p, operands).gradients;
        for (const Program& program : programs) {
          const Executed result = backward(program, p, {.rows_q = 4, .rows_kv = 5, .fp32_temporaries = true}, operands);
          const Gradients& ours = result.gradients;
          for (const auto& [tensor, reference] :
               {std::pair{&ours.dQ, &truth.d_q}, {&ours.dK, &truth.d_k}, {&ours.dV, &truth.d_v}})
            for (int i = 0; i < 12; ++i)
              for (int c = 0; c < p.d; ++c) {
                const double wanted = (*reference)[0][static_cast<std::size_t>(i * p.d + c)];
                const float got = tensor->values(0).at(i, c);
                INFO(program.name << (causal ? ", causal" : "") << ", poison " << poison << " in operand " << which
                                  << ", " << name_of(tensor->id()) << " row " << i << ", column " << c << ": " << got
                                  << ", wanted " << wanted);
                CHECK(std::isfinite(got) == std::isfinite(wanted));
                if (std::isnan(poison)) CHECK(std::isnan(got) == std::isnan(wanted));
              }
        }
      }
}

TEST_CASE("flash1's dQ in the element type loses exactness over the passes, and fp32 temporaries keep it") {
  const Problem p{.n_q = 128, .n_kv = 2048, .d = 32, .element = Element::bf16};
  const Operands operands = tests::any_operands(p, 3);
  const Truth truth = truth_of(p, operands);
  const Program& flash1 = program_named("flash1");
  CHECK_FALSE(accuracy(backward(flash1, p, {.rows_q = 64, .rows_kv = 16}, operands), truth).tensors[0].exact());
  CHECK(
      accuracy(backward(flash1, p, {.rows_q = 64, .rows_kv = 16, .fp32_temporaries = true}, operands), truth).exact());
}

TEST_CASE("recomputing P costs products, keeping it costs n² numbers both ways, and the gradients are the same") {
  const Problem p{.heads = 2, .kv_heads = 1, .n_q = 96, .n_kv = 80, .d = 16, .causal = true, .element = Element::fp32};
  const Tiling t{.rows_q = 16, .rows_kv = 16};
  const Operands operands = tests::any_operands(p, 8);
  const Executed again = backward(program_named("flash2"), p, t, operands);
  const Executed kept = backward(program_named("flash2_stored"), p, t, operands);
  CHECK(kept.run.counts().flops.count() * 5 == again.run.counts().flops.count() * 4);  // S is one of five products
  CHECK(kept.run.counts().exponentials == 0);
  CHECK(kept.run.counts().read() - again.run.counts().read() == kept.run.counts()[Tensor::P].read);
  const Run forward = run(program_named("flash2_stored"), p, t, gpu());
  CHECK(forward.counts()[Tensor::P].written == kept.run.counts()[Tensor::P].read);
  CHECK(forward.counts().flops.count() * 2 == run(program_named("flash2"), p, t, gpu()).counts().flops.count() * 3);
  for (Head h = 0; h < 2; ++h)
    for (int i = 0; i < p.n_q; ++i)
      for (int c = 0; c < p.d; ++c)
        CHECK(kept.gradients.dQ.values(h).at(i, c) == Approx(again.gradients.dQ.values(h).at(i, c)).margin(1e-5));
}

TEST_CASE("under a causal mask the first tiles of a section of key heads go first, as all queries see them") {
  const Tiling t{.rows_q = 16, .rows_kv = 16, .in_sections = true};
  Problem p{.batch = 2, .heads = 12, .kv_heads = 6, .n_q = 64, .n_kv = 64, .d = 8};
  for (const bool causal : {false, true}) {
    p.causal = causal;
    const Run result = run(program_named("flash2"), p, t, gpu(), {.detail = Detail::events, .pass = Pass::backward});
    std::vector<std::pair<Head, int>> order;  // head, first key of its tile
    for (const Event& event : result.events)
      if (event.op == Op::load && event.tensor == Tensor::K) order.emplace_back(event.head, event.rows.begin);
    REQUIRE(order.size() == 12 * 4);
    for (int k = 0; k < 12 * 4; ++k) {
      const int section = causal ? 2 : 1;  // of 6 heads, 4 would leave a rest
      CHECK(order[k].first == 2 * (k / (4 * section) * section + k % section));
      CHECK(order[k].second == k / section % 4 * 16);
    }
  }
}

TEST_CASE("a section's Q, dO and dQ fit half of an H200's L2, if there is more than one head") {
  const auto log_section_of = [](int heads, int kv_heads, int n, int d) {
    const Problem p{.heads = heads, .kv_heads = kv_heads, .n_q = n, .n_kv = n, .d = d, .causal = true};
    return log_section(flash2_backward_tiling(d), p);
  };
  CHECK(log_section_of(16, 16, 16384, 128) == 1);  // 16 MB each
  CHECK(log_section_of(16, 16, 4096, 128) == 3);
  CHECK(log_section_of(16, 16, 1024, 128) == 4);  // there are no more
  CHECK(log_section_of(32, 32, 1024, 256) == 4);
  CHECK(log_section_of(32, 8, 4096, 128) == 1);  // each for four query heads
  CHECK(log_section_of(16, 16, 65536, 128) == 0);
  CHECK(log_section_of(7, 7, 1024, 128) == 0);
}

TEST_CASE("the default tiling of a backward fits in the SRAM of a data-centre GPU") {
  for (const char* name : {"a100", "h100", "h200", "b200"})
    for (int d : {64, 128, 256})
      for (Element element : {Element::fp32, Element::bf16})
        for (const Program& program : programs) {
          if (element == Element::fp32 && d == 256) continue;  // naive's forward does not fit either
          const Problem p{.n_q = 300, .n_kv = 300, .d = d, .element = element};
          const Hardware h = hardware_named(name);
          INFO(program.name << " on " << name << ", d " << d << ", " << name_of(element));
          CHECK_NOTHROW(run(program, p, default_tiling(program, p, h, Pass::backward), h, {.pass = Pass::backward}));
        }
}

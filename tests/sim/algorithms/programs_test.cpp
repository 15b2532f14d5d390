// Every program gives attention: exactly, on awkward shapes, in every element type it takes.

#include <cmath>
#include <limits>

#include "sim/record/safetensors.h"
#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

Accuracy error_of(const Program& program, const Problem& p, const Tiling& t, const Operands& operands) {
  return accuracy(execute(program, p, t, gpu(), {.detail = Detail::values}, &operands), truth_of(p, operands));
}

// Attention of one row by the textbook, in double, from nothing but the operands: no code of the simulator.
std::vector<double> textbook_row(const Problem& p, const Operands& x, Head head, int i) {
  const auto kv = static_cast<std::size_t>(head / p.heads * p.kv_heads + head % p.heads * p.kv_heads / p.heads);
  const Matrix &q = x.q[static_cast<std::size_t>(head)], &k = x.k[kv], &v = x.v[kv];
  std::vector<double> o(static_cast<std::size_t>(p.d), 0.0), weight(static_cast<std::size_t>(p.n_kv), 0.0);
  double sum = 0;
  for (int j = 0; j < p.n_kv; ++j) {
    if (p.causal && j > i + p.n_kv - p.n_q) continue;
    double score = 0;
    for (int c = 0; c < p.d; ++c) score += static_cast<double>(q.at(i, c)) * k.at(j, c);
    sum += weight[static_cast<std::size_t>(j)] = std::exp(score / std::sqrt(p.d));
  }
  for (int j = 0; j < p.n_kv && sum > 0; ++j)
    for (int c = 0; c < p.d; ++c)
      o[static_cast<std::size_t>(c)] += weight[static_cast<std::size_t>(j)] / sum * v.at(j, c);
  return o;
}

}  // namespace

TEST_CASE("every program equals the textbook formula to fp32 rounding") {
  Random random(11);
  for (int round = 0; round < 40; ++round) {
    Problem p = tests::any_problem(random, 30);
    p.element = Element::fp32;
    const Operands operands = random_operands(p, static_cast<std::uint64_t>(round));
    for (const Program& program : programs) {
      const Executed result =
          execute(program, p, tests::any_tiling(random), gpu(), {.detail = Detail::values}, &operands);
      for (Head h = 0; h < p.heads_total(); ++h)
        for (int i = 0; i < p.n_q; ++i) {
          const std::vector<double> wanted = textbook_row(p, operands, h, i);
          for (int c = 0; c < p.d; ++c) {
            INFO(program.name << " " << describe(p) << " head " << h << " row " << i);
            REQUIRE(result.output.O.values(h).at(i, c) == Approx(wanted[static_cast<std::size_t>(c)]).margin(2e-5));
          }
        }
    }
  }
}

TEST_CASE("every program is exact in every element type: its error is at most twice plain attention's") {
  Random random(12);
  for (int round = 0; round < 60; ++round) {
    Problem p = tests::any_problem(random);
    Tiling t = tests::any_tiling(random, 8);
    const Operands operands = random_operands(p, static_cast<std::uint64_t>(round));
    const Truth truth = truth_of(p, operands);
    for (const Program& program : programs) {
      const Accuracy a = accuracy(execute(program, p, t, gpu(), {.detail = Detail::values}, &operands), truth);
      INFO(program.name << ", " << describe(p) << ", error " << a.worst().max_abs_error << ", allowed "
                        << a.worst().tolerance);
      CHECK(a.exact());
    }
  }
}

TEST_CASE("flash1's O in the element type loses exactness over very many passes, and fp32 temporaries keep it") {
  // 128 passes round O 128 times; the released kernel kept it in fp32 for that reason.
  const Problem p{.n_q = 512, .n_kv = 2048, .d = 32, .element = Element::bf16};
  const Operands operands = random_operands(p, 3);
  const Program& flash1 = program_named("flash1");
  const Accuracy rounded = error_of(flash1, p, {.rows_q = 64, .rows_kv = 16}, operands);
  const Accuracy kept = error_of(flash1, p, {.rows_q = 64, .rows_kv = 16, .fp32_temporaries = true}, operands);
  CHECK_FALSE(rounded.exact());
  CHECK(kept.exact());
  CHECK(error_of(flash1, p, {.rows_q = 64, .rows_kv = 256}, operands).exact());  // eight passes do no harm
}

TEST_CASE("a query that sees no key gives O = 0 and LSE = -inf") {
  const Problem p{.n_q = 10, .n_kv = 4, .d = 8, .causal = true};
  const Operands operands = random_operands(p, 5);
  for (const Program& program : programs) {
    const Executed result =
        execute(program, p, {.rows_q = 3, .rows_kv = 2}, gpu(), {.detail = Detail::values}, &operands);
    for (int i = 0; i < 6; ++i)
      for (int c = 0; c < p.d; ++c) CHECK(result.output.O.values(0).at(i, c) == 0.0f);
    if (result.output.LSE) CHECK(result.output.LSE.values(0).at(5, 0) == -std::numeric_limits<float>::infinity());
    CHECK(accuracy(result, truth_of(p, operands)).exact());
  }
}

TEST_CASE("NaN and infinity travel as in attention computed in double") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (bool causal : {false, true})
    for (float poison : {nan, inf, -inf})
      for (int which = 0; which < 3; ++which) {
        const Problem p{.n_q = 12, .n_kv = 12, .d = 8, .causal = causal, .element = Element::fp32};
        Operands operands = random_operands(p, 9);
        (which == 0 ? operands.q : which == 1 ? operands.k : operands.v)[0].at(7, 3) = poison;
        const Truth truth = truth_of(p, operands);
        for (const Program& program : programs) {
          const Executed result =
              execute(program, p, {.rows_q = 4, .rows_kv = 5}, gpu(), {.detail = Detail::values}, &operands);
          for (int i = 0; i < p.n_q; ++i)
            for (int c = 0; c < p.d; ++c) {
              const double wanted = truth.reference[0].o[static_cast<std::size_t>(i * p.d + c)];
              const float got = result.output.O.values(0).at(i, c);
              INFO(program.name << (causal ? ", causal" : "") << ", poison " << poison << " in operand " << which
                                << ", row " << i << ", column " << c << ": " << got << ", wanted " << wanted);
              CHECK(std::isnan(got) == std::isnan(wanted));
              if (std::isinf(wanted)) CHECK(got == static_cast<float>(wanted));
            }
        }
      }
}

TEST_CASE("a key that no query may see cannot spoil the result, be it NaN") {
  const Problem p{.n_q = 6, .n_kv = 6, .d = 8, .causal = true};
  Operands operands = random_operands(p, 4);
  operands.v[0].at(5, 0) = std::numeric_limits<float>::quiet_NaN();
  for (const Program& program : programs) {
    const Executed result =
        execute(program, p, {.rows_q = 4, .rows_kv = 4}, gpu(), {.detail = Detail::values}, &operands);
    for (int i = 0; i < 5; ++i) CHECK_FALSE(std::isnan(result.output.O.values(0).at(i, 0)));
    CHECK(std::isnan(result.output.O.values(0).at(5, 0)));
  }
}

TEST_CASE("e4m3 is refused by name") {
  CHECK_THROWS_AS(run(program_named("flash2"), {.element = Element::e4m3}, {}, gpu()), SpecError);
}

TEST_CASE("an unknown program is answered with the known ones") {
  try {
    program_named("flash9");
    FAIL("found");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("naive, eager, eager_alpha, flash1, flash2") != std::string::npos);
  }
}

TEST_CASE("the shipped heads: every program gives what the model's own attention gave") {
  for (const char* name : {"smollm2", "minilm"}) {
    const Input input = read_input(assets_folder() / "inputs" / (std::string(name) + ".safetensors"));
    Problem p = input.problem;
    p.element = Element::fp32;
    const TensorFile file = read_safetensors(assets_folder() / "inputs" / (std::string(name) + ".safetensors"));
    const TensorFile::Entry* o = file.find("o");
    REQUIRE(o);
    for (const Program& program : programs) {
      const Executed result =
          execute(program, p, {.rows_q = 16, .rows_kv = 16}, gpu(), {.detail = Detail::values}, &input.operands);
      std::size_t at = 0;
      double largest = 0;
      for (Head h = 0; h < p.heads_total(); ++h)
        for (float value : result.output.O.values(h).values())
          largest = std::max(largest, std::fabs(static_cast<double>(value) - o->values[at++]));
      CHECK(at == o->values.size());
      CHECK(largest < 2e-5);
    }
  }
}

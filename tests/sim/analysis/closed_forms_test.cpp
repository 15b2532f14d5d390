#include "sim/analysis/closed_forms.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

TEST_CASE("the closed form of every program equals its count, tensor by tensor, on 3000 random shapes, both passes") {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const Problem p = tests::any_problem(random);
    const Tiling t = tests::any_tiling(random);
    Hardware h = gpu();
    if (random.chance(0.3)) h.registers_per_sm = Bytes(64);  // no row of S fits: softmax reads it twice
    for (const Program& program : programs) {
      for (Pass pass : {Pass::forward, Pass::backward}) {
        const auto form = closed_form(program.name, p, t, h, pass);
        REQUIRE(form);
        const Counts counts = run(program, p, t, h, {.pass = pass}).counts();
        INFO(program.name << ", " << name_of(pass) << ", " << describe(p) << ", tiles " << t.rows_q << " x "
                          << t.rows_kv);
        REQUIRE(counts.tensors == form->tensors);
      }
    }
  }
}

TEST_CASE("a program that has no closed form has none, rather than a wrong one") {
  CHECK_FALSE(closed_form("mine", {}, {}, gpu()));
  CHECK_FALSE(closed_form("mine", {}, {}, gpu(), Pass::backward));
}

// The research notes' own arithmetic (elements for one head, each operand of a naive product read once).
TEST_CASE("FA-2 moves 2Nd + N + Tr·2Nd numbers: the published counts of three tilings") {
  struct {
    int n, d, rows_q, rows_kv;
    std::int64_t numbers;
  } const rows[] = {{128, 16, 16, 16, 36992},
                    {1024, 64, 64, 64, 2229248},
                    {4096, 64, 128, 64, 17305600},
                    {8192, 128, 128, 128, 136323072}};
  for (const auto& row : rows) {
    const Problem p{.n_q = row.n, .n_kv = row.n, .d = row.d, .element = Element::fp32};
    const Counts c =
        run(program_named("flash2"), p, {.rows_q = row.rows_q, .rows_kv = row.rows_kv}, gpu(Bytes(1 << 30))).counts();
    CHECK(c.moved() == Bytes(row.numbers * 4));
  }
}

TEST_CASE("FA-1 moves 2Nd + Tc·(3Nd + 4N) numbers less what its first pass need not read") {
  struct {
    int n, d, rows_kv;
    std::int64_t numbers;
  } const rows[] = {
      {128, 16, 16, 57344}, {1024, 64, 64, 3342336}, {4096, 64, 64, 51904512}, {8192, 128, 128, 205520896}};
  for (const auto& row : rows) {
    const Problem p{.n_q = row.n, .n_kv = row.n, .d = row.d, .element = Element::fp32};
    const Counts c =
        run(program_named("flash1"), p, {.rows_q = 16, .rows_kv = row.rows_kv}, gpu(Bytes(1 << 30))).counts();
    const std::int64_t first_pass = static_cast<std::int64_t>(row.n) * (row.d + 2);
    CHECK(c.moved() == Bytes((row.numbers - first_pass) * 4));
  }
}

TEST_CASE("naive moves 4N² + 4Nd numbers when each operand is read once") {
  struct {
    int n, d;
    std::int64_t numbers;
  } const rows[] = {{128, 16, 73728}, {1024, 64, 4456448}, {4096, 64, 68157440}};
  for (const auto& row : rows) {
    const Problem p{.n_q = row.n, .n_kv = row.n, .d = row.d, .element = Element::fp32};
    Hardware h = gpu(Bytes(std::int64_t{1} << 40));
    h.registers_per_sm = Bytes(std::int64_t{1} << 40);
    const Counts c = run(program_named("naive"), p, {.rows_q = row.n, .rows_kv = row.n}, h).counts();
    CHECK(c.moved() == Bytes(row.numbers * 4));
  }
}

// In numbers for one head, dS and the row statistics apart (memory_model.md, section 2.2).
TEST_CASE("naive's backward moves 7N² + 8Nd numbers when each operand is read once") {
  for (const auto& [n, d] : {std::pair{128, 16}, {1024, 64}, {4096, 64}}) {
    const Problem p{.n_q = n, .n_kv = n, .d = d, .element = Element::fp32};
    Hardware h = gpu(Bytes(std::int64_t{1} << 40));
    h.registers_per_sm = Bytes(std::int64_t{1} << 40);
    const Counts c = run(program_named("naive"), p, {.rows_q = n, .rows_kv = n}, h, {.pass = Pass::backward}).counts();
    CHECK(c.moved() == Bytes((std::int64_t{7} * n * n + std::int64_t{8} * n * d) * 4));
  }
}

TEST_CASE("FA-2's backward adds n numbers of dQ for each tile of keys, and reads Q, dO, LSE and D as often") {
  const Problem p{.n_q = 1000, .n_kv = 1024, .d = 64, .element = Element::bf16};
  const Counts c =
      run(program_named("flash2"), p, {.rows_q = 48, .rows_kv = 128}, gpu(), {.pass = Pass::backward}).counts();
  CHECK(c.reduced() == Bytes(8 * 1000 * 64 * 4));
  CHECK(c[Tensor::Q].read == Bytes(8 * 1000 * 64 * 2));
  CHECK(c[Tensor::dO].read == Bytes((8 + 1) * 1000 * 64 * 2));  // and once for D
  CHECK(c[Tensor::LSE].read == Bytes(8 * 1000 * 4));
  CHECK(c[Tensor::K].read == Bytes(1024 * 64 * 2));
}

TEST_CASE("the query heads that share K and V share one dK and dV") {
  Problem p{.heads = 8, .kv_heads = 2, .n_q = 100, .n_kv = 70, .d = 16};
  for (const Program& program : programs) {
    const Counts c = run(program, p, {.rows_q = 16, .rows_kv = 16}, gpu(), {.pass = Pass::backward}).counts();
    CHECK(c[Tensor::dK].written == Bytes(2 * 70 * 16 * 2));
    CHECK(c[Tensor::dV].written == Bytes(2 * 70 * 16 * 2));
  }
}

// FA-1 paper, Figure 2: GPT-2 medium, n 1024, d 64, 16 heads, batch 64, fp16; forward streams in bytes.
TEST_CASE("the forward streams of the FA-1 paper's Figure 2") {
  const Problem p{
      .batch = 64, .heads = 16, .kv_heads = 16, .n_q = 1024, .n_kv = 1024, .d = 64, .element = Element::fp16};
  const std::int64_t s = std::int64_t{1024} * 1024 * 1024 * 2, nd = std::int64_t{1024} * 1024 * 64 * 2;
  Hardware h = gpu(Bytes(1 << 30));
  h.registers_per_sm = Bytes(1 << 30);
  const Tiling whole{.rows_q = 1024, .rows_kv = 1024};
  CHECK(run(program_named("naive"), p, whole, h).counts().moved() == Bytes(4 * s + 4 * nd));  // 9.13 GB
  // Mask and dropout add a round trip each, and dropout one byte of mask for each score: 4 + 2 + 2.5.
  CHECK(run(program_named("eager_alpha"), p, whole, h).counts().moved() == Bytes(8 * s + s / 2 + 4 * nd));
  CHECK(run(program_named("eager"), p, whole, h).counts().moved() == Bytes(10 * s + s / 2 + 4 * nd));
  // Bc = 256: four passes. K, V once; Q four times; O three times back and four times out.
  const Counts flash1 = run(program_named("flash1"), p, {.rows_q = 16, .rows_kv = 256}, h).counts();
  CHECK(flash1.moved() - flash1[Tensor::m].read - flash1[Tensor::m].written - flash1[Tensor::l].read -
            flash1[Tensor::l].written ==
        Bytes(13 * nd));
}

TEST_CASE("no program moves less than what is compulsory") {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    Problem p = tests::any_problem(random);
    p.causal = false;
    p.heads = p.kv_heads;
    for (Pass pass : {Pass::forward, Pass::backward}) {
      const Counts least = compulsory(p, pass);
      for (const Program& program : programs) {
        const Counts counts = run(program, p, tests::any_tiling(random), gpu(), {.pass = pass}).counts();
        for (Tensor tensor : {Tensor::Q, Tensor::K, Tensor::V, Tensor::dO})
          CHECK(counts[tensor].read >= least[tensor].read);
        for (Tensor tensor : {Tensor::O, Tensor::dQ, Tensor::dK, Tensor::dV})
          CHECK(counts[tensor].written >= least[tensor].written);
      }
    }
  }
}

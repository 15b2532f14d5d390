#include "sim/analysis/largest_n.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

int reach(std::string_view program, Pass pass, Bytes memory) {
  return largest_n(
      [&](int n) {
        const Problem p{.n_q = n, .n_kv = n, .d = 64};
        return footprint_of(program_named(program), p, {}, gpu(), pass);
      },
      memory);
}

}  // namespace

TEST_CASE("the largest n fits and the next does not") {
  for (int memory : {0, 1, 2, 7, 63, 64, 65, 1000, 999999}) {
    const auto square = [](int n) { return Bytes(std::int64_t{n} * n); };
    const std::int64_t n = largest_n(square, Bytes(memory));
    CHECK(n * n <= memory);
    CHECK((n + 1) * (n + 1) > memory);
  }
  CHECK(largest_n([](int n) { return Bytes(n); }, Bytes(1000), 10) == 10);
}

TEST_CASE("with a GPU's memory flash reaches far beyond naive, and 100 times the memory takes naive 10 times as far") {
  const Bytes memory(std::int64_t{1} << 34);
  CHECK(reach("flash2", Pass::forward, memory) > 100 * reach("naive", Pass::forward, memory));
  CHECK(reach("naive", Pass::forward, memory * 100) ==
        Approx(10 * reach("naive", Pass::forward, memory)).epsilon(0.01));
  CHECK(reach("flash2", Pass::forward, memory * 4) == Approx(4 * reach("flash2", Pass::forward, memory)).epsilon(0.01));
}

TEST_CASE("a footprint without running a block is the footprint of the run") {
  Random random(6);
  for (int round = 0; round < 50; ++round) {
    const Problem p = tests::any_problem(random);
    const Tiling t = tests::any_tiling(random);
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward})
        CHECK(footprint_of(program, p, t, gpu(), pass) == run(program, p, t, gpu(), {.pass = pass}).footprint());
  }
}

TEST_CASE("a backward holds dO, dQ, dK and dV, and naive's three tensors of n² numbers") {
  const Problem p{.n_q = 1000, .n_kv = 1000, .d = 64};
  const auto extra = [&](std::string_view name) {
    return footprint(run(program_named(name), p, {}, gpu(), {.pass = Pass::backward}));
  };
  CHECK(extra("naive").operands == Bytes(8 * 1000 * 64 * 2));
  CHECK(extra("naive").extra == Bytes(3 * 1000 * 1000 * 2));              // P, dP, dS
  CHECK(extra("flash2").extra == Bytes(1000 * (4 + 4) + 1000 * 64 * 4));  // LSE, D, dQ_acc
}

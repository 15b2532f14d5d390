#include "sim/analysis/replay.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

TEST_CASE("replay(run, k) is the machine that has run k steps, values included") {
  Random random(3);
  for (int round = 0; round < 25; ++round) {
    const Problem p = tests::any_problem(random, 24);
    const Tiling t = tests::any_tiling(random, 3);
    Hardware h = gpu();
    if (random.chance(0.3)) h.registers_per_sm = Bytes(64);
    const Operands operands = tests::any_operands(p, static_cast<std::uint64_t>(round));
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward}) {
        const RunOptions options{.detail = Detail::values, .record_values = true, .pass = pass};
        const Run whole = run(program, p, t, h, options, &operands);
        const auto steps = static_cast<int>(whole.events.size());
        for (int sample = 0; sample < 8; ++sample) {
          const int k = sample == 0 ? 0 : sample == 1 ? steps : random.between(0, steps);
          const State live = run_until(k, program, p, t, h, options, &operands);
          INFO(program.name << ", " << name_of(pass) << ", " << describe(p) << ", step " << k << " of " << steps);
          REQUIRE(replay(whole, k) == live);
        }
      }
  }
}

TEST_CASE("replay to the end has the counts of the run, and steps outside it are its ends") {
  const Run whole = run(program_named("flash2"), {.n_q = 20, .n_kv = 20, .d = 8}, {.rows_q = 8, .rows_kv = 8}, gpu(),
                        {.detail = Detail::events});
  const auto steps = static_cast<std::int64_t>(whole.events.size());
  CHECK(replay(whole, steps).counts == whole.counts());
  CHECK(replay(whole, steps + 100) == replay(whole, steps));
  CHECK(replay(whole, -5) == State{});
}

TEST_CASE("totals, events and values count the same") {
  Random random(4);
  for (int round = 0; round < 30; ++round) {
    const Problem p = tests::any_problem(random, 30);
    const Tiling t = tests::any_tiling(random, 2);
    const Operands operands = tests::any_operands(p, 1);
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward}) {
        const Counts totals = run(program, p, t, gpu(), {.pass = pass}).counts();
        CHECK(run(program, p, t, gpu(), {.detail = Detail::events, .pass = pass}).counts() == totals);
        CHECK(run(program, p, t, gpu(), {.detail = Detail::values, .pass = pass}, &operands).counts() == totals);
      }
  }
}

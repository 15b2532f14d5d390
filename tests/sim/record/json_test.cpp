#include "sim/record/json.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

Run small_run(bool values = true, Pass pass = Pass::forward) {
  const Problem p{.heads = 2, .kv_heads = 1, .n_q = 5, .n_kv = 7, .d = 8, .causal = true};
  const Operands operands = tests::any_operands(p, 1);
  Run record =
      run(program_named("flash2"), p, {.rows_q = 2, .rows_kv = 3}, hardware_named("h200"),
          {.detail = values ? Detail::values : Detail::events, .record_values = values, .pass = pass}, &operands);
  record.tokens = {"the", "\"cat\"", "sät", "\n", "on", "a", "mat"};
  return record;
}

std::string complaint(const std::string& text) {
  try {
    run_from_json(text, "trace.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a trace that was written and read is the same trace at every step") {
  for (const auto& [values, pass] :
       {std::pair{true, Pass::forward}, {false, Pass::forward}, {true, Pass::backward}, {false, Pass::backward}}) {
    const Run before = small_run(values, pass);
    const Run after = run_from_json(to_json(before), "trace.json");
    CHECK(after.pass == before.pass);
    CHECK(after.problem == before.problem);
    CHECK(after.tiling == before.tiling);
    CHECK(after.tokens == before.tokens);
    CHECK(after.allocations == before.allocations);
    CHECK(after.counts() == before.counts());
    CHECK(after.values == before.values);
    REQUIRE(after.events.size() == before.events.size());
    for (std::int64_t k = 0; k <= static_cast<std::int64_t>(before.events.size()); ++k)
      REQUIRE(replay(after, k) == replay(before, k));
    CHECK(to_json(after) == to_json(before));
  }
}

TEST_CASE("a trace that points outside itself is refused with the place") {
  const std::string good = to_json(small_run());
  CHECK(complaint(good).empty());
  CHECK(complaint("nonsense") == "trace.json: is not JSON.");
  CHECK(complaint("[1]").find("must be an object") != std::string::npos);
  CHECK(complaint(replaced(good, "\"launch\": 0", "\"launch\": 7")).find("events[0] needs launch") !=
        std::string::npos);
  CHECK(complaint(replaced(good, "\"to\": 0", "\"to\": 99")).find("buffer") != std::string::npos);
  CHECK(complaint(replaced(good, "\"op\": \"load\"", "\"op\": \"fly\"")).find("unknown op") != std::string::npos);
  CHECK(complaint(replaced(good, "\"values\": 0", "\"values\": 999999999")).find("values") != std::string::npos);
  CHECK(complaint(replaced(good, "\"n_q\": 5", "\"n_q\": 0")).find("n_q") != std::string::npos);
  CHECK(complaint(replaced(good, "\"forward\"", "\"sideways\"")).find("unknown pass") != std::string::npos);
  CHECK(complaint(replaced(good, "\"kv_heads\": 1", "\"kv_heads\": 3")).find("multiple") != std::string::npos);
  CHECK(complaint(replaced(good, "\"program\"", "\"programme\"")).find("has no \"program\"") != std::string::npos);
}

TEST_CASE("a trace damaged at random is refused or read, and never crashes") {
  const std::string good = to_json(small_run());
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    for (int edits = random.between(1, 4); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<int>(bad.size())));
      if (random.chance(0.5))
        bad[at] = static_cast<char>(random.between(32, 126));
      else
        bad.erase(at, static_cast<std::size_t>(random.between(1, 20)));
    }
    try {
      const Run run = run_from_json(bad, "bad");
      for (std::size_t k = 0; k <= run.events.size(); k += 7) replay(run, static_cast<std::int64_t>(k));
    } catch (const InputError&) {
    } catch (const OverflowError&) {}
  }
  SUCCEED();
}

TEST_CASE("a trace whose counts exceed 64 bits together is refused in one line") {
  Run run = fa::run(program_named("flash2"), {.n_q = 4, .n_kv = 4, .d = 2}, {.rows_q = 4, .rows_kv = 4},
                    hardware_named("h200"), {.detail = Detail::events});
  for (Event& event : run.events) event.sram_read = Bytes(std::int64_t{1} << 62);
  CHECK_THROWS_AS(run_from_json(to_json(run), "huge.json"), InputError);
}

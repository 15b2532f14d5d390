#include "sim/analysis/sectors.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

// One head of 8 rows: 2 · 8 rows of 64 bytes, and 8 numbers of LSE that fill one sector.
TEST_CASE("rows of whole sectors cross as they were requested") {
  const Problem p{.n_q = 8, .n_kv = 8, .d = 32, .element = Element::bf16};
  const Run record = run(program_named("flash2"), p, {.rows_q = 8, .rows_kv = 8}, gpu());
  CHECK(sectors(record).read == record.counts().read());
  CHECK(sectors(record).written == Bytes(8 * 64 + 32));
  CHECK(sectors(record).reduced == Bytes(0));
}

TEST_CASE("a row of 40 bytes takes two sectors") {
  const Problem p{.n_q = 8, .n_kv = 8, .d = 20, .element = Element::bf16};
  CHECK(sectors(run(program_named("flash2"), p, {.rows_q = 8, .rows_kv = 8}, gpu())).read == Bytes(3 * 8 * 64));
}

//  LSE of three heads, 6 numbers each, in sectors of 8:   0 0 0 0 0 0 1 1 │ 1 1 1 1 2 2 2 2 │ 2 2
TEST_CASE("a head's statistics may begin in the middle of a sector, and its ends cross whole") {
  const Problem p{.heads = 3, .kv_heads = 3, .n_q = 6, .n_kv = 8, .d = 32, .element = Element::bf16};
  const Bytes O(3 * 6 * 64);
  CHECK(sectors(run(program_named("flash2"), p, {.rows_q = 6, .rows_kv = 8}, gpu())).written == O + Bytes(5 * 32));
  // In tiles of 4 rows: 0 0 0 0 | 0 0, 1 1 1 1 (two sectors) | 1 1, 2 2 2 2 | 2 2.
  CHECK(sectors(run(program_named("flash2"), p, {.rows_q = 4, .rows_kv = 8}, gpu())).written == O + Bytes(7 * 32));
}

TEST_CASE("a warp stores 32 rows' statistics at a time, and sectors between two warps cross twice") {
  const Problem p{.heads = 2, .kv_heads = 2, .n_q = 65, .n_kv = 8, .d = 32, .element = Element::bf16};
  const Sectors moved = sectors(run(program_named("flash2"), p, {.rows_q = 65, .rows_kv = 8}, gpu()));
  // Head 0 at number 0: 4 + 4 + 1; head 1 at number 65: [65, 97) and [97, 129) meet five each, [129, 130) one.
  CHECK(moved.written == Bytes(2 * 65 * 64) + Bytes((9 + 11) * 32));
}

TEST_CASE("rows of S are padded to whole sectors") {
  const Problem p{.n_q = 4, .n_kv = 20, .d = 16, .element = Element::bf16};  // 40 bytes a row
  const Run record = run(program_named("naive"), p, {.rows_q = 4, .rows_kv = 20}, gpu());
  CHECK(record.counts()[Tensor::S].written == Bytes(4 * 40));
  CHECK(sectors(record).written == Bytes(2 * 4 * 64 + 4 * 32));
}

TEST_CASE(
    "no sector is lost: what crosses is at least what was requested, and at most 62 bytes more for each row of a "
    "tile") {
  Random random(31);
  for (int round = 0; round < 100; ++round) {
    const Problem p = tests::any_problem(random);
    const Tiling t = tests::any_tiling(random);
    for (const Program& program : programs) {
      for (Pass pass : {Pass::forward, Pass::backward}) {
        const Run record = run(program, p, t, gpu(), {.detail = Detail::events, .pass = pass});
        std::int64_t rows = 0;
        for (const Event& event : record.events)
          if (event.tensor != Tensor::none) rows += event.rows.size();
        const Sectors moved = sectors(record);
        const Bytes all = moved.read + moved.written + moved.reduced;
        INFO(program.name << ", " << describe(p));
        CHECK(all >= record.counts().moved());
        CHECK(all <= record.counts().moved() + Bytes(62 * rows));
      }
    }
  }
}

#include "sim/config/row_work.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

TEST_CASE("an instruction of a warp counts for 32 lanes, whatever they hold") {
  CHECK(RowWork{}.executed(16, 16, 0) == 2 * 32);                         // 8 rows at a time, in four lanes each
  CHECK(RowWork{.rows = 32}.executed(16, 16, 0) == 32);                   // half of the lanes idle
  CHECK(RowWork{.rows = 1, .times = 8}.executed(3, 3, 0) == 3 * 8 * 32);  // eight warps on each row
  CHECK(RowWork{.rows = 4, .times = 2, .in_all = 2}.executed(16, 16, 0) == (4 * 2 + 2) * 32);
}

TEST_CASE("rows past the end count in a whole tile only, and warps of blind rows go round") {
  CHECK(RowWork{}.executed(16, 9, 0) == 2 * 32);
  CHECK(RowWork{.rows = 4, .beyond = false}.executed(16, 9, 0) == 3 * 32);
  CHECK(RowWork{}.executed(16, 16, 7) == 2 * 32);  // the eighth row of the first instruction sees a key
  CHECK(RowWork{}.executed(16, 16, 8) == 32);
  CHECK(RowWork{.blind = true}.executed(16, 16, 8) == 2 * 32);
}

// 16 queries meet two tiles of 8 keys. P: 256 scores; the rescale factor: 16 rows of two tiles, in four lanes; 1 / l and
// ln l: 16 rows in four lanes each; one warp finds its head by three divisions of three instructions.
TEST_CASE("flash2 by hand: what the special-function unit executes") {
  const Problem p{.n_q = 16, .n_kv = 16, .d = 16, .element = Element::bf16};
  const Counts c = run(program_named("flash2"), p, {.rows_q = 16, .rows_kv = 8}, gpu()).counts();
  CHECK(c.exponentials == 256 + 32);
  CHECK(c.special == 256 + 4 * 32 + 2 * 4 * 16 + 9 * 32);
}

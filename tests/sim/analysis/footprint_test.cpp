#include "sim/analysis/footprint.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

Bytes extra(std::string_view program, int n) {
  return footprint(run(program_named(program), {.n_q = n, .n_kv = n, .d = 64}, {}, tests::gpu())).extra;
}

}  // namespace

TEST_CASE("beside Q, K, V and O, naive keeps S and P: n² numbers each") {
  CHECK(extra("naive", 1000) == Bytes(2 * 1000 * 1000 * 2));
}

TEST_CASE("our naive kernel lets P take the place of S, and keeps LSE for the backward") {
  const Problem p{.n_q = 1000, .n_kv = 1000, .d = 64};
  CHECK(footprint(run(program_named("naive"), p, naive_tiling(64), tests::gpu())).extra ==
        Bytes(1000 * 1000 * 2 + 1000 * 4));
}

TEST_CASE("beside Q, K, V and O, flash keeps n numbers: LSE, or m and l") {
  CHECK(extra("flash2", 1000) == Bytes(1000 * 4));
  CHECK(extra("flash1", 1000) == Bytes(2 * 1000 * 4));
}

TEST_CASE("twice the tokens cost naive four times the memory and flash twice") {
  CHECK(extra("naive", 512) * 4 == extra("naive", 1024));
  CHECK(extra("flash2", 512) * 2 == extra("flash2", 1024));
}

TEST_CASE("operands are counted once: Q and O per query head, K and V per key head") {
  const Problem p{.heads = 4, .kv_heads = 2, .n_q = 10, .n_kv = 20, .d = 8};
  CHECK(footprint(run(program_named("flash2"), p, {}, tests::gpu())).operands ==
        Bytes((4 * 10 * 8 * 2 + 2 * 20 * 8 * 2) * 2));
}

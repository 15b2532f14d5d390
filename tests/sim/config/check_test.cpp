#include "sim/config/check.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

std::string complaint(Problem p) { return why_invalid(p).value_or(""); }

}  // namespace

TEST_CASE("a problem that works has no complaint") { CHECK(complaint({}).empty()); }

TEST_CASE("a size below one is refused by the name of its argument") {
  CHECK(complaint({.n_q = 0}).find("--n-q") == 0);
  CHECK(complaint({.n_kv = -3}).find("--n-kv") == 0);
  CHECK(complaint({.d = 0}).find("--d") == 0);
  CHECK(complaint({.heads = 0}).find("--heads") == 0);
}

TEST_CASE("query heads must be a multiple of key heads") {
  CHECK(complaint({.heads = 6, .kv_heads = 4}).find("multiple") != std::string::npos);
  CHECK(complaint({.heads = 6, .kv_heads = 3}).empty());
}

TEST_CASE("a tile without rows is refused") {
  const auto why = why_invalid(Problem{}, Tiling{.rows_q = 0}, tests::gpu());
  REQUIRE(why);
  CHECK(why->find("--rows-q") == 0);
}

TEST_CASE("causal is aligned bottom-right: key j is visible to query i iff j <= i + n_kv - n_q") {
  for (int n_q : {1, 3, 5})
    for (int n_kv : {1, 3, 5}) {
      const Problem p{.n_q = n_q, .n_kv = n_kv, .causal = true};
      for (int i = 0; i < n_q; ++i)
        for (int j = 0; j < n_kv; ++j) CHECK((j < p.visible_keys(i)) == (j <= i + n_kv - n_q));
    }
}

TEST_CASE("query heads share key heads in contiguous groups, batch by batch") {
  const Problem p{.batch = 2, .heads = 4, .kv_heads = 2};
  std::vector<Head> kv;
  for (Head h = 0; h < p.heads_total(); ++h) kv.push_back(p.kv_head_of(h));
  CHECK(kv == std::vector<Head>{0, 0, 1, 1, 2, 2, 3, 3});
}

TEST_CASE("FA-1's rule: Bc = ceil(M / 4d), Br = min(Bc, d)") {
  CHECK(Tiling::from_sram(116224, 128) == Tiling{.rows_q = 128, .rows_kv = 227});
  CHECK(Tiling::from_sram(116224, 64) == Tiling{.rows_q = 64, .rows_kv = 454});
  CHECK(Tiling::from_sram(1000, 64) == Tiling{.rows_q = 4, .rows_kv = 4});
  CHECK(Tiling::from_sram(1, 64) == Tiling{.rows_q = 1, .rows_kv = 1});
}

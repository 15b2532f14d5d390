#include "sim/core/units.h"

#include "sim/core/tiles.h"
#include "tests/catch.h"

using namespace fa;

TEST_CASE("a count that exceeds 64 bits is an error, never a wrapped number") {
  CHECK_THROWS_AS(Bytes(INT64_MAX) + Bytes(1), OverflowError);
  CHECK_THROWS_AS(Bytes(INT64_MAX / 2 + 1) * 2, OverflowError);
  CHECK((Bytes(INT64_MAX - 1) + Bytes(1)).count() == INT64_MAX);
}

TEST_CASE("cut covers every row once, the ragged last tile included") {
  std::vector<Rows> tiles;
  for (Rows rows : cut(10, 4)) tiles.push_back(rows);
  CHECK(tiles == std::vector<Rows>{{0, 4}, {4, 8}, {8, 10}});
  CHECK(cut(8, 4).size() == 2);
  CHECK(cut(3, 4).at(0) == Rows{0, 3});
  CHECK(cut(10, 4).first(2).size() == 2);
  CHECK(cut(10, 4).first(0).empty());
}

TEST_CASE("a tile that begins below 2^31 ends at n, not beyond") {
  const int n = 2147483600;
  CHECK(cut(n, 1 << 20).at(cut(n, 1 << 20).size() - 1).end == n);
}

#include "tests/catch.h"
#include "tests/viz/support.h"

using namespace fa;
using namespace fa::viz;

TEST_CASE("flash2 has a tile of the outline for every tile of scores that it computes", "[viz]") {
  const Staged s = random_run("flash2");  // 3 × 3 tiles
  REQUIRE(s.outline.tiles.size() == 9);
  CHECK(s.outline.tiles[0].rows == Rows{0, 4});
  CHECK(s.outline.tiles[0].cols == Rows{0, 8});
  CHECK(s.outline.tiles[5].rows == Rows{4, 8});
  CHECK(s.outline.tiles[5].cols == Rows{16, 20});  // ragged
}

TEST_CASE("every event belongs to exactly one tile, in order", "[viz]") {
  for (const Program& program : programs) {
    const Staged s = random_run(std::string(program.name));
    CAPTURE(program.name);
    std::int64_t next = 0;
    for (const TileSpan& tile : s.outline.tiles) {
      CHECK(tile.first == next);
      CHECK(tile.last > tile.first);
      next = tile.last;
    }
    CHECK(next == static_cast<std::int64_t>(s.run.events.size()));
  }
}

TEST_CASE("phases are blocks in flash2, passes over K and V in flash1, launches and blocks in naive", "[viz]") {
  const auto names = [](const Staged& s) {
    std::string text;
    for (const Phase& phase : s.outline.phases) text += phase.name + "; ";
    return text;
  };
  CHECK(names(random_run("flash2")) == "block 0; block 1; block 2; ");
  CHECK(names(random_run("flash1")) == "K, V tile 0; K, V tile 1; K, V tile 2; ");
  CHECK(names(random_run("naive")) == "1 of 3: S = Q Kᵀ; 2 of 3: P = softmax(S); 3: block 0; 3: block 1; 3: block 2; ");
}

TEST_CASE("a tile begins with its loads", "[viz]") {
  for (const char* program : {"naive", "flash1", "flash2"}) {
    const Staged s = random_run(program);
    CAPTURE(program);
    for (const TileSpan& tile : s.outline.tiles) {
      const Op op = s.run.events[static_cast<std::size_t>(tile.first)].op;
      CHECK((op == Op::load || op == Op::start));
    }
  }
}

TEST_CASE("moving by tile and phase stops at their ends, and back is the way forth", "[viz]") {
  const Staged s = random_run("flash2");
  std::int64_t step = 0;
  for (const TileSpan& tile : s.outline.tiles) {
    step = moved(s.outline, step, Stride::tile, 1);
    CHECK(step == tile.last);
  }
  CHECK(moved(s.outline, step, Stride::tile, 1) == step);  // nothing beyond the end
  for (std::size_t i = s.outline.tiles.size(); i-- > 0;) {
    step = moved(s.outline, step, Stride::tile, -1);
    CHECK(step == s.outline.tiles[i].first);
  }
  CHECK(moved(s.outline, 0, Stride::step, -1) == 0);
  CHECK(moved(s.outline, 3, Stride::step, 2) == 5);
  CHECK(moved(s.outline, 0, Stride::phase, 1) == s.outline.phases[1].first);
  CHECK(moved(s.outline, s.outline.events(), Stride::phase, -3) == 0);
}

TEST_CASE("the program beside ends with the first in proportion, and keeps pace tile for tile", "[viz]") {
  const Staged a = random_run("flash2"), b = random_run("naive");
  CHECK(paired_step(a.outline, 0, b.outline, Pairing::proportion) == 0);
  CHECK(paired_step(a.outline, a.outline.events(), b.outline, Pairing::proportion) == b.outline.events());
  std::int64_t before = 0;
  for (std::int64_t step = 1; step <= a.outline.events(); ++step) {
    const std::int64_t now = paired_step(a.outline, step, b.outline, Pairing::tile);
    CHECK(now >= before);
    before = now;
  }
  CHECK(before == b.outline.tiles[8].last);  // nine tiles each
}

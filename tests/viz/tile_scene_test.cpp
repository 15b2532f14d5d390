#include "tests/catch.h"
#include "tests/viz/support.h"

using namespace fa;
using namespace fa::viz;

namespace {

// The grid as text: . to come, # done, @ now, / skipped.
std::string drawn(const TileScene& scene) {
  std::string text;
  for (std::size_t i = 0; i < scene.tiles.size(); ++i) {
    if (i != 0 && i % static_cast<std::size_t>(scene.tiles_across) == 0) text += '\n';
    text += ".#@/"[static_cast<int>(scene.tiles[i].state)];
  }
  return text;
}

}  // namespace

TEST_CASE("nothing is now before the first step, and exactly one tile at every step of a flash program", "[viz]") {
  for (const char* program : {"flash1", "flash2"}) {
    const Staged s = random_run(program, 12, 20, 4, 8, true);
    CAPTURE(program);
    CHECK(count(s.tiles(0), TileState::now) == 0);
    for (std::int64_t step = 1; step <= s.outline.events(); ++step) {
      CAPTURE(step);
      CHECK(count(s.tiles(step), TileState::now) == 1);
    }
  }
}

TEST_CASE("flash2 walks the grid by rows, flash1 by columns", "[viz]") {
  const Staged rows = random_run("flash2"), columns = random_run("flash1");
  CHECK(drawn(rows.tiles(rows.outline.tiles[4].first + 1)) ==
        "###\n"
        "#@.\n"
        "...");
  CHECK(drawn(columns.tiles(columns.outline.tiles[4].first + 1)) ==
        "##.\n"
        "#@.\n"
        "#..");
}

TEST_CASE("skipped tiles are those that no query of the tile may see", "[viz]") {
  const Staged s = random_run("flash2", 12, 20, 4, 4, true);
  for (std::int64_t step : {std::int64_t{0}, s.outline.events() / 2, s.outline.events()})
    for (const ScoreTile& tile : s.tiles(step).tiles)
      CHECK((tile.state == TileState::skipped) == (tile.cols.begin >= s.run.problem.visible_keys(tile.rows)));
  // naive computes them all, and masks afterwards
  const Staged naive = random_run("naive", 12, 20, 4, 4, true);
  CHECK(count(naive.tiles(3), TileState::skipped) == 0);
}

TEST_CASE("the softmax of naive works on whole rows of tiles", "[viz]") {
  const Staged s = random_run("naive");
  const std::int64_t step = step_after(s.run, Op::running_max);
  CHECK(drawn(s.tiles(step)) ==
        "@@@\n"
        "###\n"
        "###");
}

TEST_CASE("a cell is exp(S - m): the largest score of a finished row weighs 1, and none weighs more", "[viz]") {
  const Staged s = random_run("flash2");
  const TileScene scene = s.tiles(s.outline.events());
  REQUIRE(scene.cells.fold == 1);
  for (int row = 0; row < scene.cells.rows; ++row) {
    float most = 0;
    for (int col = 0; col < scene.cells.cols; ++col) most = std::max(most, scene.cells.at(row, col));
    CHECK(most == Approx(1.0));
  }
}

TEST_CASE("a larger score pales the cells before it by the rescale factor", "[viz]") {
  const Staged s = sentence("flash2");
  const Instructive place = instructive_step(s.run, s.outline, std::nullopt);
  const TileSpan& tile = *s.outline.at(place.step);
  const TileScene before = s.tiles(tile.first), after = s.tiles(tile.last);
  const SoftmaxScene softmax = softmax_scene(s.run, s.outline, tile.last, place.row);
  REQUIRE(softmax.rescale);
  int compared = 0;
  for (int key = 0; key < tile.cols.begin; ++key) {
    const float weight = before.cells.at(place.row, key);
    if (weight < 1e-6f) continue;
    CHECK(static_cast<double>(after.cells.at(place.row, key) / weight) == Approx(*softmax.rescale).epsilon(1e-3));
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("long sequences are folded into at most 128 cells a side", "[viz]") {
  const Staged s = random_run("flash2", 300, 130, 60, 65);
  const TileScene scene = s.tiles(s.outline.events());
  CHECK(scene.cells.fold == 3);
  CHECK(scene.cells.rows == 100);
  CHECK(scene.cells.cols == 44);
  for (float weight : scene.cells.weight) CHECK(weight >= 0);
}

TEST_CASE("strips show the tiles on chip, and O is done once nothing will store it again", "[viz]") {
  const Staged s = random_run("flash2");
  const TileSpan& tile = s.outline.tiles[4];
  const TileScene scene = s.tiles(tile.first + 2);  // K and V of this tile are there
  CHECK(scene.Q.now == Rows{4, 8});
  CHECK(scene.K.now == Rows{8, 16});
  CHECK(scene.V.now == Rows{8, 16});
  REQUIRE(scene.O.done.size() == 1);
  CHECK(scene.O.done[0] == Rows{0, 4});

  const Staged flash1 = random_run("flash1");
  CHECK(flash1.tiles(flash1.outline.tiles[5].last).O.done.empty());  // stored twice, and not for the last time
  CHECK(flash1.tiles(flash1.outline.events()).O.done.size() == 3);
}

TEST_CASE("slots say what each buffer of the block holds, and which one the step wrote", "[viz]") {
  const Staged s = random_run("flash2");
  for (const Slot& slot : s.tiles(0).slots) {
    CHECK_FALSE(slot.filled);
    CHECK(slot.holds == "empty");
  }
  const std::int64_t step = s.outline.tiles[4].first + 1;  // load K₁
  const TileScene scene = s.tiles(step);
  int written = 0;
  for (const Slot& slot : scene.slots)
    if (slot.written) {
      ++written;
      CHECK(slot.name == "K₁");
      CHECK(slot.holds == "rows 8–15");
      CHECK(slot.level == Level::sram);
    }
  CHECK(written == 1);
  REQUIRE(scene.transfer);
  CHECK(scene.transfer->name == "K₁");
  CHECK(scene.transfer->to_chip);
  CHECK(scene.transfer->bytes == Bytes(8 * 8 * 4));
}

TEST_CASE("S and P grow in HBM under naive, and never exist there under flash2", "[viz]") {
  const auto written = [](const TileScene& scene, Tensor tensor) {
    std::int64_t numbers = -1;
    for (const HbmBlock& block : scene.hbm)
      if (block.tensor == tensor) {
        numbers = 0;
        for (const Rect& rect : block.written)
          numbers += static_cast<std::int64_t>(rect.rows.size()) * rect.cols.size();
      }
    return numbers;
  };
  const Staged naive = random_run("naive"), flash = random_run("flash2");
  CHECK(written(naive.tiles(0), Tensor::S) == 0);
  CHECK(written(naive.tiles(naive.outline.tiles[3].last), Tensor::S) == 4 * (8 + 8 + 4) + 4 * 8);
  CHECK(written(naive.tiles(naive.outline.events()), Tensor::S) == 12 * 20);
  CHECK(written(naive.tiles(naive.outline.events()), Tensor::P) == 12 * 20);
  CHECK(written(flash.tiles(flash.outline.events()), Tensor::S) == -1);
}

TEST_CASE("where P takes the place of S, both are one rectangle", "[viz]") {
  Problem problem;
  problem.n_q = problem.n_kv = 40;
  problem.d = 8;
  const Staged s =
      staged("naive", problem, {.rows_q = 16, .rows_kv = 16, .in_place = true}, random_operands(problem, 7));
  const TileScene scene = s.tiles(s.outline.events());
  std::vector<std::string> names;
  for (const HbmBlock& block : scene.hbm) names.push_back(block.name());
  CHECK(names == std::vector<std::string>{"Q", "K", "V", "S, P", "O"});
  std::int64_t numbers = 0;
  for (const Rect& rect : scene.hbm[3].written)
    numbers += static_cast<std::int64_t>(rect.rows.size()) * rect.cols.size();
  CHECK(numbers == 2 * 40 * 40);
}

TEST_CASE("the counters on screen are those of the replay, at every step and for every program", "[viz]") {
  for (const Program& program : programs) {
    const Staged s = random_run(std::string(program.name));
    CAPTURE(program.name);
    for (std::int64_t step = 0; step <= s.outline.events(); ++step) {
      const State state = s.at(step);
      const TileScene tiles = s.tiles(step);
      const MemoryScene memory = memory_scene(s.run, state, tiles);
      Bytes read, written;
      for (const TensorTraffic& traffic : memory.tensors) {
        CHECK(traffic.read == state.counts[traffic.tensor].read);
        CHECK(traffic.written == state.counts[traffic.tensor].written);
        read += traffic.read;
        written += traffic.written;
      }
      CHECK(read == state.counts.read());  // no tensor is missing from the table
      CHECK(written == state.counts.written());
      CHECK(tiles.read == read);
      CHECK(memory.exponentials == state.counts.exponentials);
    }
    CHECK(s.at(s.outline.events()).counts == s.run.counts());
  }
}

TEST_CASE("the SRAM bar holds the buffers of the launch, and no more than its peak", "[viz]") {
  const Staged s = random_run("flash2");
  const MemoryScene memory = memory_scene(s.run, s.at(5), s.tiles(5));
  CHECK(memory.sram_used == s.run.sram_peak());
  REQUIRE(memory.sram.size() == 3);
  CHECK(memory.sram[0].name == "Q₀");
}

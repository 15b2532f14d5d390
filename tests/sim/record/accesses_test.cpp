#include "sim/record/accesses.h"

#include <algorithm>
#include <limits>
#include <map>

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

struct Move {
  Tensor tensor;
  Op op;
  Head head;
  Rows rows, cols;

  friend bool operator==(const Move&, const Move&) = default;
};

// The tiles of a run, in their order.
std::vector<Move> tiles_of(const Access& a) {
  std::vector<Move> moves;
  for (std::int64_t i = 0; i < a.tiles; ++i) {
    const auto k = static_cast<int>(a.descending ? a.tiles - 1 - i : i);
    Move move{a.tensor, a.op, a.head, a.rows, a.cols};
    Rows& along = a.along_cols ? move.cols : move.rows;
    const int size = a.along_cols ? a.tile.cols : a.tile.rows;
    along = {along.begin + k * size, std::min(along.begin + (k + 1) * size, along.end)};
    moves.push_back(move);
  }
  return moves;
}

Event load(std::int64_t block, int first_row) {
  Event event{.op = Op::load, .tensor = Tensor::K, .block = block};
  event.rows = {first_row, first_row + 16};
  event.cols = {0, 8};
  return event;
}

}  // namespace

TEST_CASE("what each block of every program moved, and when, comes back tile by tile, for any shape") {
  Random random(31);
  for (int round = 0; round < 60; ++round) {
    const Problem p = tests::any_problem(random);
    const Tiling t = tests::any_tiling(random);
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward}) {
        if (pass == Pass::backward && !program.backward) continue;
        const Run record = run(program, p, t, gpu(), {.detail = Detail::events, .pass = pass});
        for (std::size_t i = 0; i < record.launches.size(); ++i) {
          std::map<std::int64_t, std::vector<Move>> expected;  // by block
          for (const Event& e : record.events)
            if (e.launch == static_cast<int>(i) && e.tensor != Tensor::none && !e.rows.empty())
              expected[e.block].push_back({e.tensor, e.op, e.head, e.rows, e.cols});
          REQUIRE(record.launches[i].accesses.blocks() == static_cast<std::int64_t>(expected.size()));
          Accesses::Cursor at(record.launches[i].accesses);
          for (const auto& [block, moves] : expected) {
            const BlockAccesses* runs = at.next();
            REQUIRE(runs);
            std::size_t tiles = 0;
            for (const Access& run : *runs) {
              const std::vector<Move> tiles_of_run = tiles_of(run);
              const std::int64_t steps = std::max<std::int64_t>(1, run.tiles - 1);
              for (std::int64_t k = 0; k < run.tiles; ++k) {  // at equal intervals
                const std::int64_t when = run.first + k * (run.last - run.first) / steps;
                REQUIRE(tiles_of_run[static_cast<std::size_t>(k)] == moves.at(static_cast<std::size_t>(when)));
              }
              tiles += tiles_of_run.size();
            }
            REQUIRE(tiles == moves.size());
          }
          REQUIRE_FALSE(at.next());
        }
      }
  }
}

TEST_CASE("totals keep the same accesses as events, and a grid of many blocks takes few stretches") {
  const Problem p{.heads = 2, .kv_heads = 2, .n_q = 4096, .n_kv = 4096, .d = 64, .causal = true};
  const Run record = run(program_named("naive"), p, {.rows_q = 64, .rows_kv = 64}, gpu());
  CHECK(record.launches[0].accesses.blocks() == 2 * 64 * 64);
  CHECK(record.launches[0].accesses.stretches() <= 2 * 64 * 2);
  const Run flash = run(program_named("flash2"), p, {.rows_q = 64, .rows_kv = 64}, gpu());
  CHECK(flash.launches[0].accesses.blocks() == 2 * 64);
  CHECK(flash.launches[0].accesses.stretches() <= 4);
}

TEST_CASE("tiles that come from the last rows to the first are known as such") {
  Accesses accesses;
  for (int row : {48, 32, 16, 0}) accesses.add(load(0, row));
  for (int row : {0, 16, 32, 48}) accesses.add(load(1, row));
  Accesses::Cursor at(accesses);
  CHECK(at.next()->front().descending);
  CHECK_FALSE(at.next()->front().descending);
  CHECK_FALSE(at.next());
}

TEST_CASE("blocks whose rows lie at the end of what an int holds are kept, too") {
  Accesses accesses;
  for (std::int64_t block = 0; block < 4; ++block)
    accesses.add(load(block, block % 2 == 0 ? 0 : std::numeric_limits<int>::max() - 16));
  Accesses::Cursor at(accesses);
  for (int block = 0; block < 4; ++block)
    CHECK(at.next()->front().rows.begin == (block % 2 == 0 ? 0 : std::numeric_limits<int>::max() - 16));
}

TEST_CASE("tiles of any sizes, in any order, come back: what does not continue a run begins another") {
  Random random(36);
  for (int round = 0; round < 300; ++round) {
    Accesses accesses;
    std::vector<Rows> moved;
    int at = 40;
    for (int i = 0; i < 12; ++i) {
      Event event = load(0, 0);
      const int size = random.between(1, 3);
      if (random.chance(0.2)) at = random.between(0, 80);
      event.rows = {at, at + size};
      at = random.chance(0.7) ? at + size : std::max(0, at - size);
      accesses.add(event);
      moved.push_back(event.rows);
    }
    std::vector<Rows> got;
    Accesses::Cursor cursor(accesses);
    for (const Access& run : *cursor.next())
      for (const Move& move : tiles_of(run)) got.push_back(move.rows);
    CHECK(got == moved);
  }
}

#include <cmath>

#include "tests/catch.h"
#include "tests/viz/support.h"

using namespace fa;
using namespace fa::viz;

namespace {

// The scores of a row, from the operands alone.
std::vector<double> scores(const Problem& p, const Operands& operands, int row) {
  std::vector<double> result;
  for (int key = 0; key < p.visible_keys(row); ++key) {
    double sum = 0;
    for (int c = 0; c < p.d; ++c)
      sum += static_cast<double>(operands.q[0].at(row, c)) * static_cast<double>(operands.k[0].at(key, c));
    result.push_back(sum * p.scale());
  }
  return result;
}

}  // namespace

TEST_CASE("the softmax panel's numbers are those that the scores give, row by row and tile by tile", "[viz]") {
  for (const char* program : {"flash1", "flash2", "flash3"}) {
    const Staged s = random_run(program, 12, 20, 4, 8, true);
    const Operands operands = random_operands(s.run.problem, 7);
    const bool from_last = std::string(program) == "flash3";  // it walks the keys from the last tile to the first
    CAPTURE(program);
    int checked = 0;
    for (const TileSpan& tile : s.outline.tiles)
      for (int row = tile.rows.begin; row < tile.rows.end; ++row) {
        const std::vector<double> all = scores(s.run.problem, operands, row);
        const SoftmaxScene scene = softmax_scene(s.run, s.outline, tile.last, row);
        const int keys = static_cast<int>(all.size());
        const int first = from_last ? std::min(tile.cols.begin, keys) : 0;  // seen with this tile, and before it
        const int last = from_last ? keys : std::min(tile.cols.end, keys);
        const int first_old = from_last ? std::min(tile.cols.end, keys) : 0;
        const int last_old = from_last ? keys : std::min(tile.cols.begin, keys);
        double m_old = -INFINITY, m = -INFINITY, l = 0, l_old = 0;
        for (int key = first; key < last; ++key) m = std::max(m, all[static_cast<std::size_t>(key)]);
        for (int key = first_old; key < last_old; ++key) m_old = std::max(m_old, all[static_cast<std::size_t>(key)]);
        for (int key = first; key < last; ++key) l += std::exp(all[static_cast<std::size_t>(key)] - m);
        for (int key = first_old; key < last_old; ++key) l_old += std::exp(all[static_cast<std::size_t>(key)] - m_old);
        if (first == last) continue;  // this row sees nothing of its first tile
        CAPTURE(row, tile.cols.begin);
        REQUIRE(scene.kind == SoftmaxKind::online);
        REQUIRE(scene.m_new);
        CHECK(*scene.m_new == Approx(m).epsilon(1e-5));
        CHECK(*scene.l_new == Approx(l).epsilon(1e-5));
        CHECK(*scene.l_old == Approx(l_old).epsilon(1e-5));
        CHECK(*scene.rescale == Approx(std::exp(m_old - m)).epsilon(1e-5));
        REQUIRE(scene.invariant);
        CHECK(scene.invariant->holds);
        CHECK(scene.invariant->keys == last - first);
        ++checked;
      }
    CHECK(checked > 20);
  }
}

TEST_CASE("the invariant of the panel is computed from the scores, so that a wrong l would fail it", "[viz]") {
  Staged s = random_run("flash2");
  const std::int64_t sum = step_after(s.run, Op::running_sum, s.outline.tiles[1].first);
  const Event& event = s.run.events[static_cast<std::size_t>(sum - 1)];
  s.run.values[static_cast<std::size_t>(event.values)] *= 1.01f;  // l of the block's first row
  const SoftmaxScene scene = softmax_scene(s.run, s.outline, sum, event.rows.begin);
  REQUIRE(scene.invariant);
  CHECK_FALSE(scene.invariant->holds);
}

TEST_CASE("what a step has not computed yet is not shown", "[viz]") {
  const Staged s = random_run("flash2");
  const TileSpan& tile = s.outline.tiles[1];
  const SoftmaxScene loaded = softmax_scene(s.run, s.outline, tile.first + 1, 0);
  CHECK(loaded.scores.empty());
  CHECK(loaded.m_old);  // left by the tile before
  CHECK_FALSE(loaded.m_new);
  REQUIRE(loaded.formulas.size() == 4);
  for (const Formula& formula : loaded.formulas) CHECK_FALSE(formula.known);

  const SoftmaxScene maximum = softmax_scene(s.run, s.outline, step_after(s.run, Op::running_max, tile.first), 0);
  CHECK(maximum.scores.size() == 8);
  CHECK(maximum.m_new);
  CHECK_FALSE(maximum.rescale);
  CHECK(maximum.formulas[0].fresh);
  CHECK_FALSE(maximum.formulas[1].known);
}

TEST_CASE("O before and after differ by the factor, then by P V", "[viz]") {
  const Staged s = random_run("flash2");
  const std::int64_t rescaled = step_after(s.run, Op::rescale, s.outline.tiles[1].first);
  const SoftmaxScene scene = softmax_scene(s.run, s.outline, rescaled, 2);
  REQUIRE(scene.o_before.size() == 8);
  REQUIRE(scene.o_after.size() == 8);
  CHECK(scene.o_rescaled_only);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(static_cast<double>(scene.o_after[i]) ==
          Approx(static_cast<double>(scene.o_before[i]) * *scene.rescale).epsilon(1e-5));
  CHECK_FALSE(softmax_scene(s.run, s.outline, rescaled + 1, 2).o_rescaled_only);
}

TEST_CASE("masked keys carry no weight and are never the largest", "[viz]") {
  const Staged s = random_run("flash2", 8, 8, 4, 8, true);
  const std::int64_t step = step_after(s.run, Op::mask);
  const SoftmaxScene scene = softmax_scene(s.run, s.outline, step, 2);
  REQUIRE(scene.scores.size() == 8);
  for (const Score& score : scene.scores) {
    CHECK(score.masked == (score.key > 2));
    if (score.masked) CHECK_FALSE(score.largest);
  }
}

TEST_CASE("a row whose turn has not come says where it comes; naive says where its softmax is", "[viz]") {
  const Staged s = random_run("flash2");
  const SoftmaxScene waiting = softmax_scene(s.run, s.outline, 3, 9);
  CHECK(waiting.kind == SoftmaxKind::waiting);
  REQUIRE(waiting.go_to > 3);
  CHECK_FALSE(softmax_scene(s.run, s.outline, waiting.go_to, 9).scores.empty());

  const Staged naive = random_run("naive");
  CHECK(softmax_scene(naive.run, naive.outline, 4, 0).kind == SoftmaxKind::product);
  const SoftmaxScene whole = softmax_scene(naive.run, naive.outline, step_after(naive.run, Op::running_sum), 0);
  CHECK(whole.kind == SoftmaxKind::whole);
  CHECK(whole.scores.size() == 20);
  REQUIRE(whole.invariant);
  CHECK(whole.invariant->holds);
}

TEST_CASE("a row that sees no key has no step to go to", "[viz]") {
  const Staged s = random_run("flash2", 12, 4, 4, 4, true);  // rows 0 to 7 see nothing
  const SoftmaxScene scene = softmax_scene(s.run, s.outline, 0, 3);
  CHECK(scene.go_to == -1);
  CHECK(scene.message == "This row sees no key: its O is 0.");
}

TEST_CASE("labels are the tokens, without the space before them", "[viz]") {
  const Staged s = sentence("flash2");
  CHECK(query_label(s.run, 24) == "it");
  CHECK(key_label(s.run, 2) == "cat");
  CHECK(key_label(random_run("flash2").run, 3) == "key 3");
}

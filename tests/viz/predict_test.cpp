#include <cmath>

#include "tests/catch.h"
#include "tests/viz/support.h"

using namespace fa;
using namespace fa::viz;

TEST_CASE("the prediction asks about the next rescaling of the row, and its reveal shows that factor", "[viz]") {
  const Staged s = sentence("flash2");
  const TileSpan* tile = s.outline.at(moved(s.outline, 0, Stride::phase, 3) + 1);
  REQUIRE(tile);
  const Prediction asked = prediction(s.run, s.outline, tile->first, 24);
  REQUIRE(asked.asks);
  CHECK(asked.row == 24);
  CHECK(asked.factor == Approx(std::exp(asked.m_old - std::max(asked.m_old, asked.tile_max))).epsilon(1e-5));
  const SoftmaxScene shown = softmax_scene(s.run, s.outline, asked.reveal, 24);
  REQUIRE(shown.rescale);
  CHECK(*shown.rescale == Approx(asked.factor));
  CHECK_FALSE(softmax_scene(s.run, s.outline, asked.reveal - 1, 24).rescale);  // not given away before
}

TEST_CASE("without a row the prediction asks where m really moves", "[viz]") {
  const Staged s = sentence("flash2");
  const Prediction asked = prediction(s.run, s.outline, 0, std::nullopt);
  REQUIRE(asked.asks);
  CHECK(asked.factor < 1);
}

TEST_CASE("an answer is right within two hundredths", "[viz]") {
  Prediction asked;
  asked.factor = 0.289;
  CHECK(is_right(asked, 0.289));
  CHECK(is_right(asked, 0.30));
  CHECK_FALSE(is_right(asked, 0.32));
  CHECK_FALSE(is_right(asked, NAN));
}

TEST_CASE("naive has no rescaling to predict, and says so", "[viz]") {
  const Staged s = sentence("naive");
  const Prediction none = prediction(s.run, s.outline, 0, 24);
  CHECK_FALSE(none.asks);
  CHECK(none.question.find("never rescales") != std::string::npos);
}

TEST_CASE("the instructive step is one where a factor well below 1 has just been applied", "[viz]") {
  for (const char* program : {"flash1", "flash2"}) {
    const Staged s = sentence(program);
    CAPTURE(program);
    for (const std::optional<int> wanted : {std::optional<int>(), std::optional<int>(24)}) {
      const Instructive place = instructive_step(s.run, s.outline, wanted);
      CHECK(s.run.events[static_cast<std::size_t>(place.step - 1)].op == Op::rescale);
      const SoftmaxScene scene = softmax_scene(s.run, s.outline, place.step, place.row);
      REQUIRE(scene.rescale);
      CHECK(*scene.rescale < 0.9);
      CHECK(*scene.rescale > 0.02);
      if (wanted) CHECK(place.row == *wanted);
    }
  }
}

TEST_CASE("a program that never rescales is shown in its softmax", "[viz]") {
  const Staged s = sentence("naive");
  const Instructive place = instructive_step(s.run, s.outline, std::nullopt);
  CHECK(s.run.events[static_cast<std::size_t>(place.step - 1)].op == Op::exp);
}

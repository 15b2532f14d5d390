#include "tests/catch.h"
#include "tests/viz/support.h"

using namespace fa;
using namespace fa::viz;

TEST_CASE("with room for every step, a bar is an event on the lane of its kind", "[viz]") {
  const Staged s = random_run("flash2");
  const TimelineScene scene = timeline_scene(s.run, s.outline, 0, s.outline.events(), 1000);
  REQUIRE(scene.bars.size() == s.run.events.size());
  for (std::size_t k = 0; k < scene.bars.size(); ++k) {
    CHECK(scene.bars[k].lane == lane_of(s.run.events[k].op));
    CHECK(scene.bars[k].first == static_cast<double>(k));
    CHECK(scene.bars[k].store == (s.run.events[k].op == Op::store));
  }
}

TEST_CASE("with less room, columns share their steps among the lanes, and none is lost", "[viz]") {
  const Staged s = random_run("naive");
  const TimelineScene scene = timeline_scene(s.run, s.outline, 0, s.outline.events(), 10);
  double steps = 0;
  for (const Bar& bar : scene.bars) steps += bar.share * (bar.last - bar.first);
  CHECK(steps == Approx(static_cast<double>(s.outline.events())));
  CHECK(scene.bars.size() <= 40);
}

TEST_CASE("rescale marks stand exactly where a factor below 1 is applied", "[viz]") {
  const Staged s = sentence("flash2");
  const TimelineScene scene = timeline_scene(s.run, s.outline, 0, s.outline.events(), 1000);
  REQUIRE_FALSE(scene.rescales.empty());
  for (const RescaleTick& tick : scene.rescales) {
    CHECK(s.run.events[static_cast<std::size_t>(tick.step - 1)].op == Op::rescale);
    CHECK(tick.factor < 1);
    CHECK(tick.factor > 0);
  }
  CHECK(timeline_scene(sentence("naive").run, sentence("naive").outline, 0, 1000, 1000).rescales.empty());
}

TEST_CASE("every step has a title and a sentence", "[viz]") {
  for (const Program& program : programs) {
    const Staged s = random_run(std::string(program.name), 12, 12, 4, 4, true);
    for (std::int64_t step = 0; step <= s.outline.events(); ++step) {
      const StepText text = step_text(s.run, s.outline, step);
      CAPTURE(program.name, step, text.title);
      CHECK_FALSE(text.title.empty());
      REQUIRE_FALSE(text.sentence.empty());
      CHECK(text.sentence.back() == '.');
    }
  }
}

TEST_CASE("the sentence of a load names the tile, its rows, where it goes and its bytes", "[viz]") {
  const Staged s = random_run("flash2");
  const StepText text = step_text(s.run, s.outline, s.outline.tiles[4].first + 1);
  CHECK(text.title == "block 1 · tile 1 · load K₁");
  CHECK(text.sentence == "K₁ (rows 8–15) comes from HBM to SRAM: 256 B.");
}

TEST_CASE("playback keeps its pace and stops at the end", "[viz]") {
  Playback playback;
  CHECK(advance(playback, 4, 10, 5.0) == 4);  // paused
  playback.playing = true;
  std::int64_t step = 0;
  for (int frame = 0; frame < 60; ++frame) step = advance(playback, step, 100, 1.0 / 60);
  CHECK(step >= 2);  // three steps a second, less a rounding
  CHECK(step <= 3);
  playback.speed = 64;
  CHECK(advance(playback, step, 100, 1.0) == 100);
  CHECK_FALSE(playback.playing);
  CHECK(faster(1, 1) == 2);
  CHECK(faster(64, 1) == 64);
  CHECK(faster(0.25, -1) == 0.25);
}

TEST_CASE("whole-run bars are the closed forms, with each program's own tiles", "[viz]") {
  const Hardware gpu = hardware_named("h200");
  Problem problem;
  problem.heads = problem.kv_heads = 4;
  const Problem one = whole_run_problem(problem, 2048);
  CHECK(one.heads_total() == 1);
  for (const Program& program : programs) {
    const ProgramBytes bar = count_whole_run(program, one, gpu);
    REQUIRE(bar.counted);
    const auto form = closed_form(program.name, one, bar.tiling, gpu);
    REQUIRE(form);
    CHECK(bar.read == form->read());
    CHECK(bar.written == form->written());
  }
}

TEST_CASE("a program that cannot run says why in its bar, and the others stay", "[viz]") {
  Problem problem;
  problem.d = 4096;  // a 128 x 4096 tile does not fit in SRAM
  const ProgramBytes bar =
      count_whole_run(program_named("flash2"), whole_run_problem(problem, 512), hardware_named("t4"));
  CHECK_FALSE(bar.counted);
  CHECK(bar.trouble.find("does not fit") != std::string::npos);
  CHECK(bar.trouble.find("--") == std::string::npos);  // in the words on screen
}

#include "viz/app/app.h"

#include <filesystem>

#include "tests/catch.h"
#include "viz/app/scene_file.h"

using namespace fa;
using namespace fa::viz;

namespace {

Specs changed(const App& app, int rows_q) {
  Specs specs = app.now().specs;
  specs.tiling.rows_q = rows_q;
  return specs;
}

}  // namespace

TEST_CASE("the app opens on the bundled sentence, paused before the first tile, naive beside", "[viz]") {
  App app(default_start());
  const Screen& s = app.screen();
  CHECK(s.tiles.step == 0);
  CHECK_FALSE(s.playback.playing);
  CHECK(s.specs.program == "flash2");
  REQUIRE(s.beside);
  CHECK(s.beside->program == "naive");
  CHECK(s.key_labels.size() == 48);
}

TEST_CASE("intents move the step, and never beyond the run", "[viz]") {
  App app(default_start());
  const std::int64_t steps = app.screen().tiles.steps;
  app.apply({Move{Stride::step, 1}, Move{Stride::step, 1}});
  CHECK(app.step() == 2);
  app.apply({SeekTo{1'000'000}});
  CHECK(app.step() == steps);
  app.apply({Move{Stride::phase, -1}});
  CHECK(app.step() == app.screen().timeline.phases.back().step);
  app.apply({SeekTo{-5}});
  CHECK(app.step() == 0);
}

TEST_CASE("playing moves on by itself and any move pauses it", "[viz]") {
  App app(default_start());
  app.apply({Play{true}});
  for (int i = 0; i < 61; ++i) app.tick(1.0 / 60);
  CHECK(app.step() >= 3);
  app.apply({Move{Stride::step, -1}});
  CHECK_FALSE(app.playing());
}

TEST_CASE("a specification that cannot work leaves the last good run, with the sentence at its control", "[viz]") {
  App app(default_start());
  app.apply({SeekTo{20}});
  Specs specs = app.now().specs;
  specs.tiling = {.rows_q = 2000, .rows_kv = 2000};
  app.apply({Change{specs, Control::rows_q}});
  const Screen& s = app.screen();
  REQUIRE(s.trouble);
  CHECK(s.trouble->control == Control::rows_q);
  CHECK(s.trouble->sentence.find("does not fit in SRAM") != std::string::npos);
  CHECK(s.specs.tiling.rows_q == 8);
  CHECK(s.wanted.tiling.rows_q == 2000);
  CHECK(s.tiles.step == 20);
  app.apply({Change{changed(app, 16), Control::rows_q}});
  CHECK_FALSE(app.screen().trouble);
  CHECK(app.screen().tiles.rows_q == 16);
}

TEST_CASE("a smaller n shows the first tokens only, another input its own", "[viz]") {
  App app(default_start());
  Specs specs = app.now().specs;
  specs.problem.n_q = specs.problem.n_kv = 16;
  app.apply({Change{specs, Control::n}});
  CHECK(app.screen().tiles.n_q == 16);
  CHECK(app.screen().key_labels.size() == 16);
  specs.input = find_input("minilm");
  app.apply({Change{specs, Control::input}});
  CHECK(app.screen().tiles.n_q == 49);
  CHECK(app.screen().tiles.d == 32);
  CHECK_FALSE(app.screen().tiles.causal);
}

TEST_CASE("an answer reveals the step it was about, and is judged", "[viz]") {
  App app(default_start());
  const Prediction asked = app.screen().prediction;
  REQUIRE(asked.asks);
  app.apply({Answer{asked.factor}});
  const Screen& s = app.screen();
  CHECK(s.tiles.step == asked.reveal);
  REQUIRE(s.verdict);
  CHECK(s.verdict->right);
  CHECK(s.softmax.row == asked.row);
  REQUIRE(s.softmax.rescale);
  CHECK(*s.softmax.rescale == Approx(asked.factor));
}

TEST_CASE("a row that was clicked stays, one that follows moves with the block", "[viz]") {
  App app(default_start());
  app.apply({SelectRow{24}, Move{Stride::phase, 1}});
  CHECK(app.screen().softmax.row == 24);
  app.apply({FollowRow{}, Move{Stride::phase, 1}, Move{Stride::step, 1}});
  CHECK(app.screen().softmax.row == 16);
}

TEST_CASE("a scene says what to show, and what is shown can be saved as one", "[viz]") {
  const Start start =
      scene_from_json(R"({"input": "minilm", "head": 2, "program": "flash1", "beside": "none", "step": 30, "row": 5,
                                         "problem": {"causal": true, "n": 24}, "tiling": {"rows_q": 4}, "theme": "light", "notes": "Look."})",
                      "lesson", "");
  CHECK(start.specs.program == "flash1");
  CHECK(start.specs.beside.empty());
  CHECK(start.specs.problem.n_q == 24);
  CHECK(start.specs.problem.d == 32);  // from the file
  CHECK(start.specs.tiling.rows_q == 4);
  CHECK(start.step == std::int64_t{30});
  App app(start);
  CHECK(app.screen().notes == "Look.");
  const Start again = scene_from_json(to_json(app.now()), "saved", "");
  CHECK(again.specs == app.now().specs);
  CHECK(again.step == app.now().step);
  CHECK(again.row == app.now().row);
  CHECK(again.theme == ThemeName::light);
}

TEST_CASE("a wrong scene is refused in one line that names the field", "[viz]") {
  const auto complaint = [](const char* text) -> std::string {
    try {
      scene_from_json(text, "s.json", "");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(complaint("{") == "s.json: is not JSON (byte 2).");
  CHECK(complaint("{\"whole_run_n\": 1e999}") == "s.json: has a number that is too large.");
  CHECK(complaint("[]") == "s.json: a scene must be an object.");
  CHECK(complaint(R"({"stpe": 3})").find("s.json: stpe is not a field of a scene") == 0);
  CHECK(complaint(R"({"step": -1})") == "s.json: step must be a whole number from 0.");
  CHECK(complaint(R"({"step": 1.5})") == "s.json: step must be a whole number from 0.");
  CHECK(complaint(R"({"step": 18446744073709551615})") == "s.json: step must be a whole number from 0.");
  CHECK(complaint(R"({"problem": {"element": "int8"}})").find("problem.element int8 is not known") !=
        std::string::npos);
  CHECK(complaint(R"({"program": "flash9"})").find("flash9 is not known") != std::string::npos);
  CHECK(complaint(R"({"input": "nowhere.safetensors"})").find("there is no such file") != std::string::npos);
  CHECK(complaint(R"({"version": 2})") == "s.json: version 2 is not known; this program reads 1.");
}

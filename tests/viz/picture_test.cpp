#include <imgui.h>

#include <cstdio>

#include "tests/catch.h"
#include "viz/app/headless.h"
#include "viz/app/scene_file.h"
#include "viz/draw/theme.h"

using namespace fa;
using namespace fa::viz;

namespace {

constexpr int width = 1600, height = 900;

// Pictures need EGL without a display; a machine that lacks it says so and passes.
bool can_draw() {
  if (const auto why = Headless::why_not()) {
    WARN("skipped, no picture can be drawn here: " << *why);
    return false;
  }
  return true;
}

Picture picture_of(Start start, int w = width, int h = height) {
  App app(std::move(start));
  Headless headless(w, h, 1);
  return headless.draw(app);
}

Start at_step(std::int64_t step, ThemeName theme = ThemeName::dark) {
  Start start = default_start();
  start.step = step;
  start.theme = theme;
  return start;
}

double share(const Picture& picture, Color color) {
  std::size_t found = 0;
  for (std::size_t i = 0; i + 2 < picture.rgb.size(); i += 3)
    found += picture.rgb[i] == (color & 0xffu) && picture.rgb[i + 1] == (color >> 8 & 0xffu) &&
             picture.rgb[i + 2] == (color >> 16 & 0xffu);
  return static_cast<double>(found) / (static_cast<double>(picture.rgb.size()) / 3);
}

std::size_t different(const Picture& a, const Picture& b) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) found += a.rgb[i] != b.rgb[i];
  return found;
}

}  // namespace

TEST_CASE("a picture has its size, its panels, and every tensor's colour", "[viz][picture]") {
  if (!can_draw()) return;
  for (ThemeName name : {ThemeName::dark, ThemeName::light}) {
    const Picture picture = picture_of(at_step(94, name));
    const Theme& t = theme_of(name);
    CHECK(picture.width == width);
    CHECK(picture.rgb.size() == std::size_t{width} * height * 3);
    CHECK(share(picture, t.panel) > 0.3);
    CHECK(share(picture, t.window) > 0.02);
    for (Tensor tensor : {Tensor::Q, Tensor::K, Tensor::V, Tensor::S, Tensor::O}) {
      CAPTURE(name_of(tensor));
      CHECK(share(picture, t.of(tensor)) > 0.0002);
    }
    CHECK(share(picture, t.text) > 0.0002);  // inside of letters
  }
}

TEST_CASE("two runs give the same picture byte for byte, two steps do not", "[viz][picture]") {
  if (!can_draw()) return;
  const Picture a = picture_of(at_step(94)), b = picture_of(at_step(94)), c = picture_of(at_step(97));
  CHECK(different(a, b) == 0);
  CHECK(different(a, c) > 2000);
}

TEST_CASE("every program, step and size can be drawn", "[viz][picture]") {
  if (!can_draw()) return;
  struct Size {
    int w, h;
  };
  for (const Size size : {Size{1024, 700}, Size{1280, 720}, Size{2560, 1440}})
    for (const Program& program : programs) {
      Start start = at_step(60);
      start.specs.program = program.name;
      start.specs.beside = program.name == "flash2" ? "" : "flash2";
      const Picture picture = picture_of(start, size.w, size.h);
      CAPTURE(program.name, size.w);
      CHECK(share(picture, theme_of(ThemeName::dark).panel) > 0.25);
    }
}

TEST_CASE("what was asked for stays, also beyond the ends of the sliders", "[viz][picture]") {
  if (!can_draw()) return;
  Start start;
  start.specs.program = "flash2";
  start.specs.problem = {.heads = 12, .kv_heads = 12, .n_q = 300, .n_kv = 300, .d = 4};
  start.specs.tiling = {.rows_q = 64, .rows_kv = 320};
  start.whole_run_n = 1 << 17;
  const Start asked = start;
  App app(std::move(start));
  Headless headless(width, height, 1);
  headless.run(app, 3);
  CHECK(app.now().specs == asked.specs);
  CHECK(app.now().whole_run_n == asked.whole_run_n);
}

TEST_CASE("keys step, play, jump and open the help", "[viz][picture]") {
  if (!can_draw()) return;
  App app(default_start());
  Headless headless(width, height, 1);
  headless.run(app, 3);
  ImGuiIO& io = ImGui::GetIO();
  const auto press = [&](ImGuiKey key, ImGuiKey with = ImGuiKey_None) {
    if (with != ImGuiKey_None) io.AddKeyEvent(with, true);
    io.AddKeyEvent(key, true);
    io.AddKeyEvent(key, false);
    if (with != ImGuiKey_None) io.AddKeyEvent(with, false);
    headless.run(app, 8);
  };
  press(ImGuiKey_RightArrow);
  CHECK(app.step() == 1);
  press(ImGuiKey_LeftArrow);
  CHECK(app.step() == 0);
  press(ImGuiKey_RightArrow, ImGuiMod_Shift);
  CHECK(app.step() == app.screen().timeline.phases[1].step);  // a causal block of one tile: its end is the block's
  press(ImGuiKey_Home);
  press(ImGuiKey_RightArrow, ImGuiMod_Ctrl);
  CHECK(app.step() == app.screen().timeline.phases[1].step);
  press(ImGuiKey_End);
  CHECK(app.step() == app.screen().tiles.steps);
  press(ImGuiKey_Home);
  CHECK(app.step() == 0);
  press(ImGuiKey_Space);
  CHECK(app.playing());
  press(ImGuiKey_Space);
  CHECK_FALSE(app.playing());
  press(ImGuiKey_Slash, ImGuiMod_Shift);
  CHECK(app.screen().help);
  press(ImGuiKey_Escape);
  CHECK_FALSE(app.screen().help);
}

TEST_CASE("dragging along the timeline scrubs, and a click on the grid chooses the row", "[viz][picture]") {
  if (!can_draw()) return;
  App app(default_start());
  Headless headless(width, height, 1);
  headless.run(app, 3);
  ImGuiIO& io = ImGui::GetIO();
  const Layout at = layout(width, height, Page::tiles, LeftPage::setup);
  io.AddMousePosEvent(at.timeline.x + at.timeline.w / 2, at.timeline.y + 80);
  io.AddMouseButtonEvent(0, true);
  headless.run(app, 4);
  const std::int64_t middle = app.step();
  CHECK(middle > 80);
  CHECK(middle < 150);
  io.AddMousePosEvent(at.timeline.x + at.timeline.w, at.timeline.y + 80);
  headless.run(app, 4);
  CHECK(app.step() == app.screen().tiles.steps);
  io.AddMouseButtonEvent(0, false);
  headless.run(app, 4);

  io.AddMousePosEvent(at.tiles.x + 200, at.tiles.y + 200);
  headless.run(app, 2);
  io.AddMouseButtonEvent(0, true);
  io.AddMouseButtonEvent(0, false);
  headless.run(app, 6);
  CHECK_FALSE(app.screen().row_follows);
  CHECK(app.screen().softmax.row > 0);
}

TEST_CASE("an answer can be typed, and Enter checks it", "[viz][picture]") {
  if (!can_draw()) return;
  App app(default_start());
  Headless headless(width, height, 1);
  headless.run(app, 3);
  ImGuiIO& io = ImGui::GetIO();
  const Layout at = layout(width, height, Page::tiles, LeftPage::setup);
  io.AddMousePosEvent(at.predict.x + 60, at.predict.y + 92);
  headless.run(app, 2);
  io.AddMouseButtonEvent(0, true);
  io.AddMouseButtonEvent(0, false);
  headless.run(app, 4);
  io.AddInputCharactersUTF8("0.5");
  headless.run(app, 4);
  io.AddKeyEvent(ImGuiKey_Enter, true);
  io.AddKeyEvent(ImGuiKey_Enter, false);
  headless.run(app, 6);
  REQUIRE(app.screen().verdict);
  CHECK(app.screen().verdict->answer == Approx(0.5));
}

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/draw/panels.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

enum class Icon { home, back, play, pause, forward, end };

void glyph(const Ui& ui, Icon icon, float x, float y, Color color) {
  const auto right = [&](float at) { ui.paint.triangle(at, y - 5, at, y + 5, at + 8, y, color); };
  const auto left = [&](float at) { ui.paint.triangle(at, y - 5, at - 8, y, at, y + 5, color); };
  switch (icon) {
    case Icon::home:
      ui.paint.fill({x - 6, y - 5, 2.5f, 10}, color);
      left(x + 5);
      break;
    case Icon::back: left(x + 3); break;
    case Icon::play: right(x - 3); break;
    case Icon::pause:
      ui.paint.fill({x - 4.5f, y - 5, 3.2f, 10}, color);
      ui.paint.fill({x + 1.5f, y - 5, 3.2f, 10}, color);
      break;
    case Icon::forward: right(x - 3); break;
    case Icon::end:
      right(x - 5);
      ui.paint.fill({x + 3.5f, y - 5, 2.5f, 10}, color);
      break;
  }
}

bool round_button(const Ui& ui, const char* id, float x, float y, Icon icon, std::string_view hint,
                  bool primary = false) {
  const Touch touched = touch(id, {x - 14, y - 14, 28, 28});
  const Color base = primary ? ui.theme.accent : ui.theme.inset;
  ui.paint.circle(x, y, 14, touched.hovered ? mixed(base, ui.theme.text, 0.14f) : base);
  glyph(ui, icon, x, y, primary ? ui.theme.on_accent : ui.theme.text);
  if (touched.hovered) tip(ui, hint);
  return touched.clicked;
}

void draw_transport(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const Screen& s = ui.screen;
  const float y = box.y + 22;
  float x = box.x + 32;
  if (round_button(ui, "home", x, y, Icon::home, "To the beginning (Home)")) ui.ask(SeekTo{0});
  if (round_button(ui, "back", x + 36, y, Icon::back, "One step back (←)")) ui.ask(Move{Stride::step, -1});
  if (round_button(ui, "play", x + 72, y, s.playback.playing ? Icon::pause : Icon::play,
                   s.playback.playing ? "Pause (Space)" : "Play (Space)", true))
    ui.ask(Play{!s.playback.playing});
  if (round_button(ui, "forward", x + 108, y, Icon::forward, "One step (→)")) ui.ask(Move{Stride::step, 1});
  if (round_button(ui, "end", x + 144, y, Icon::end, "To the end (End)")) ui.ask(SeekTo{s.tiles.steps});
  x += 172;
  const Touch speed = touch("speed", {x, y - 13, 66, 26});
  const std::string times =
      s.playback.speed < 1 ? fmt::format("{:.2g}×", s.playback.speed) : fmt::format("{:.0f}×", s.playback.speed);
  const float wide = ui.paint.text(x + 6, y, times, Face::mono, 13, t.text);
  ui.paint.text(x + wide + 12, y, "speed", Face::ui, 11.5f, speed.hovered ? t.text : t.faint);
  if (speed.hovered) tip(ui, "Click: faster, and round again. Keys + and −.");
  if (speed.clicked) ui.ask(SetSpeed{s.playback.speed >= 64 ? 0.25 : faster(s.playback.speed, 1)});
  x += 84;
  const float hint = ui.paint.width("? all keys", Face::ui, 11.5f);
  const float most = box.right() - 22 - hint - x - 12;
  ui.paint.text_right(box.right() - 18, y, "? all keys", Face::ui, 11.5f, t.faint);
  const std::string steps = fmt::format("step {} of {}", thousands(s.tiles.step), thousands(s.tiles.steps));
  const float steps_wide = ui.paint.width(steps, Face::mono, 12.5f) + 18;
  x += ui.paint.text_within(x, y, most * 0.44f, s.text.title, Face::bold, 13.5f, t.text) + 16;
  ui.paint.text(x, y, steps, Face::mono, 12.5f, t.faint);
  x += steps_wide;
  ui.paint.text_within(x, y, box.right() - 30 - hint - x, s.text.sentence, Face::ui, 12.5f, t.soft);
}

struct Lanes {
  Box box;
  const TimelineScene& scene;
  float x(double step) const {
    return box.x + box.w * static_cast<float>((step - static_cast<double>(scene.first)) /
                                              std::max(1.0, static_cast<double>(scene.last - scene.first)));
  }
  std::int64_t step(float at) const {
    const double share = std::clamp(static_cast<double>((at - box.x) / box.w), 0.0, 1.0);
    return scene.first + std::llround(share * static_cast<double>(scene.last - scene.first));
  }
};

// Drag to scrub, turn the wheel to zoom about the mouse.
void use_lanes(const Ui& ui, const Lanes& lanes) {
  const Touch touched = touch("lanes", {lanes.box.x - 6, lanes.box.y - 14, lanes.box.w + 12, lanes.box.h + 26});
  const ImGuiIO& io = ImGui::GetIO();
  const std::int64_t at = lanes.step(io.MousePos.x);
  if (touched.held && at != ui.screen.tiles.step) ui.ask(SeekTo{at});
  if (touched.hovered && io.MouseWheel != 0) {
    const double zoom = io.MouseWheel > 0 ? 0.8 : 1.25,
                 span = static_cast<double>(lanes.scene.last - lanes.scene.first) * zoom;
    const auto wide =
        std::clamp<std::int64_t>(std::llround(span), std::min<std::int64_t>(12, lanes.scene.steps), lanes.scene.steps);
    const double share = static_cast<double>((io.MousePos.x - lanes.box.x) / lanes.box.w);
    const std::int64_t first =
        std::clamp<std::int64_t>(at - std::llround(share * static_cast<double>(wide)), 0, lanes.scene.steps - wide);
    ui.ask(ViewRange{first, first + wide});
  }
}

}  // namespace

void draw_timeline(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const Screen& s = ui.screen;
  ui.paint.fill(box, t.panel, 8);
  ui.paint.outline(box, t.border, 8);
  draw_transport(ui, box);

  const float names = 58, pitch = std::min(19.0f, (box.h - 75) / 4), high = pitch - 3;
  const Lanes lanes{{box.x + 14 + names, box.y + 58, box.w - 28 - names - 6, pitch * 4 - 3}, s.timeline};
  for (int lane = 0; lane < 4; ++lane) {
    const float y = lanes.box.y + pitch * static_cast<float>(lane);
    ui.paint.text_right(lanes.box.x - 12, y + high / 2, lane_names[static_cast<std::size_t>(lane)], Face::ui, 11.5f,
                        t.faint);
    ui.paint.fill({lanes.box.x, y, lanes.box.w, high}, t.inset, 2);
  }
  for (const Bar& bar : s.timeline.bars) {
    const float y = lanes.box.y + pitch * static_cast<float>(static_cast<int>(bar.lane)), x0 = lanes.x(bar.first),
                x1 = lanes.x(bar.last);
    const float gap = x1 - x0 > 5 ? 1.0f : 0.0f, fill = high * static_cast<float>(std::clamp(bar.share, 0.25, 1.0));
    const Box part{x0, y + high - fill, std::max(0.7f, x1 - x0 - gap), fill};
    const Color hue = bar.lane == Lane::exp                                    ? t.accent
                      : bar.lane == Lane::vector && bar.tensor == Tensor::none ? mixed(t.inset, t.soft, 0.6f)
                                                                               : t.of(bar.tensor);
    const bool past = bar.last <= static_cast<double>(s.tiles.step);
    ui.paint.fill(part, past ? hue : mixed(t.inset, hue, 0.42f), part.w > 4 ? 2.0f : 0.0f);
    if (bar.store && part.w > 3)
      ui.paint.hatch(part, faded(t.panel, 0.8f), 4);  // stores are striped: the same colour, the other way
  }
  // Where phases begin, with as many names as fit.
  float free_from = lanes.box.x - 1;
  for (const Mark& mark : s.timeline.phases) {
    const float x = lanes.x(static_cast<double>(mark.step));
    ui.paint.line(x, lanes.box.y - 4, x, lanes.box.bottom() + 2, faded(t.soft, 0.5f));
    const float wide = ui.paint.width(mark.label, Face::ui, 11);
    if (x < free_from || x + wide > lanes.box.right()) continue;
    ui.paint.text(x + 4, lanes.box.y - 9, mark.label, Face::ui, 11, t.faint);
    free_from = x + wide + 14;
  }
  // Rescalings below: the deeper the cut, the larger the mark.
  const float ticks = lanes.box.bottom() + 3;
  float last_tick = -100;
  for (const RescaleTick& tick : s.timeline.rescales) {
    if (lanes.x(static_cast<double>(tick.step)) - last_tick < 6) continue;  // one mark stands for its neighbours
    last_tick = lanes.x(static_cast<double>(tick.step));
    const float x = lanes.x(static_cast<double>(tick.step)), size = 2.5f + 3.0f * static_cast<float>(1 - tick.factor);
    ui.paint.triangle(x - size, ticks + 2 * size, x + size, ticks + 2 * size, x, ticks, t.accent);
  }
  if (!s.timeline.rescales.empty() && box.h > 140)
    ui.paint.text_right(lanes.box.x - 12, ticks + 5, "rescale", Face::ui, 11, t.accent);
  const float x = lanes.x(static_cast<double>(s.tiles.step));
  if (s.tiles.step >= s.timeline.first && s.tiles.step <= s.timeline.last) {
    ui.paint.line(x, lanes.box.y - 6, x, lanes.box.bottom() + 4, t.text, 2);
    ui.paint.circle(x, lanes.box.y - 7, 4, t.text);
  }
  use_lanes(ui, lanes);
}

void draw_help(const Ui& ui, float width, float height) {
  const Theme& t = ui.theme;
  const Paint over(ImGui::GetForegroundDrawList(), t, ui.paint.fonts());
  const Box box{width / 2 - 330, height / 2 - 230, 660, 460};
  over.fill({0, 0, width, height}, faded(t.window, 0.75f));
  over.fill(box, t.panel, 10);
  over.outline(box, t.inset_border, 10);
  float y = box.y + 30;
  over.text(box.x + 28, y, "What is on screen", Face::bold, 16, t.text);
  over.text_right(box.right() - 28, y, "Esc closes", Face::ui, 12, t.faint);
  constexpr std::pair<const char*, const char*> panels[] = {
      {"Tiles", "Which tile of S = Q Kᵀ is worked on, what is on chip, and what stands in HBM."},
      {"Softmax",
       "One row: how m, l and O change when a tile brings larger scores. Click a row of the grid to choose it."},
      {"Memory", "Bytes asked of HBM so far, by tensor. The arrow is what this step moves."},
      {"Whole run", "The same programs at a length of your choice."},
      {"Timeline", "Every step in its order, by kind of work. It is not time. ▲ marks a rescaling."}};
  y += 30;
  for (const auto& [name, text] : panels) {
    over.text(box.x + 28, y, name, Face::bold, 12.5f, t.text);
    over.text_within(box.x + 118, y, box.w - 146, text, Face::ui, 12.5f, t.soft);
    y += 22;
  }
  y += 14;
  over.text(box.x + 28, y, "Keys", Face::bold, 16, t.text);
  y += 28;
  constexpr std::pair<const char*, const char*> keys[] = {{"Space", "play, pause"},
                                                          {"← →", "one step back, on"},
                                                          {"Shift ← →", "one tile"},
                                                          {"Ctrl ← →", "one phase: a block, a launch"},
                                                          {"Home  End", "beginning, end"},
                                                          {"+  −", "speed"},
                                                          {"F", "the whole timeline"},
                                                          {"T", "dark or light"},
                                                          {"?", "this page"}};
  for (const auto& [key, text] : keys) {
    over.text(box.x + 28, y, key, Face::mono, 12.5f, t.accent);
    over.text(box.x + 140, y, text, Face::ui, 12.5f, t.soft);
    y += 20;
  }
  y += 8;
  over.text_within(
      box.x + 28, box.bottom() - 24, box.w - 56,
      "counted: recorded by running the program.  modelled: computed from the record.  measured: read from a real GPU.",
      Face::ui, 11.5f, t.faint);
}

}  // namespace fa::viz

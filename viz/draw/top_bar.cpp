#include <fmt/format.h>

#include <utility>

#include "viz/draw/panels.h"

namespace fa::viz {
namespace {

std::string name_of_program(const Ui& ui, std::string_view value) {
  for (const Choice& choice : ui.screen.choices.programs)
    if (choice.value == value) return choice.label;
  return "none";
}

}  // namespace

void draw_top_bar(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const Screen& s = ui.screen;
  ui.paint.fill(box, t.panel);
  ui.paint.line(0, box.h - 0.5f, box.w, box.h - 0.5f, t.border);
  const float y = box.h / 2;
  const bool roomy = box.w >= 1400;
  float x = (roomy ? 20.0f : 14.0f);
  x += ui.paint.text(x, y, "FlashScope", Face::bold, 17, t.text) + (roomy ? 26.0f : 14.0f);
  const auto pill = [&](float wide) {
    const Box result{x, y - 14, wide, 28};
    x += wide + 8;
    return result;
  };
  const auto change = [&](Specs specs, Control control) { ui.ask(Change{std::move(specs), control}); };

  Specs specs = s.wanted;
  Box at = pill(roomy ? 204.0f : 172.0f);
  if (auto chosen = picker(ui, "program", at, roomy ? "program" : "", name_of_program(ui, specs.program),
                           s.choices.programs, specs.program, t.of(Tensor::Q))) {
    specs.program = *chosen;
    change(specs, Control::program);
  }
  object(ui, Control::program, at);

  std::vector<Choice> beside{{"", "none"}};
  beside.insert(beside.end(), s.choices.programs.begin(), s.choices.programs.end());
  specs = s.wanted;
  if (auto chosen = picker(ui, "beside", pill(roomy ? 196.0f : 160.0f), "beside", name_of_program(ui, specs.beside),
                           beside, specs.beside)) {
    specs.beside = *chosen;
    change(specs, Control::program);
  }

  specs = s.wanted;
  at = pill(roomy ? 176.0f : 168.0f);
  if (auto chosen = picker(ui, "input", at, "input", s.input_name, s.choices.inputs, specs.input)) {
    specs.input = *chosen;
    specs.head = 0;
    change(specs, Control::input);
  }
  object(ui, Control::input, at);

  if (!s.choices.heads.empty()) {
    specs = s.wanted;
    const std::string shown =
        roomy && !s.head_name.empty() ? fmt::format("{}: {}", specs.head, s.head_name) : std::to_string(specs.head);
    if (auto chosen = picker(ui, "head", pill(roomy ? 222.0f : 92.0f), "head", shown, s.choices.heads,
                             std::to_string(specs.head))) {
      specs.head = std::stoi(*chosen);
      change(specs, Control::input);
    }
  }

  specs = s.wanted;
  at = pill(roomy ? 130.0f : 118.0f);
  if (auto chosen = picker(ui, "gpu", at, "GPU", s.memory.hardware, s.choices.hardware, specs.hardware)) {
    specs.hardware = *chosen;
    change(specs, Control::hardware);
  }
  object(ui, Control::hardware, at);

  float right = box.w - (roomy ? 20.0f : 10.0f);
  const auto icon = [&](const char* id, std::string_view hint) {
    const Box place{right - 28, y - 14, 28, 28};
    right -= 34;
    const Touch touched = touch(id, place);
    if (touched.hovered) {
      ui.paint.fill(place, t.inset, 6);
      tip(ui, hint);
    }
    return std::pair{touched.clicked, place};
  };
  const auto [help, help_box] = icon("help", "What is on screen, and the keys (?)");
  ui.paint.text_centred(help_box.x + 14, y, "?", Face::bold, 15, t.soft);
  if (help) ui.ask(ShowHelp{!s.help});
  const auto [theme, theme_box] = icon("theme", t.dark ? "Light theme (T)" : "Dark theme (T)");
  ui.paint.circle(theme_box.x + 14, y, 6.5f, t.soft);
  ui.paint.circle(theme_box.x + 17, y - 2, 5.5f, t.panel);
  if (theme) ui.ask(SetTheme{t.dark ? ThemeName::light : ThemeName::dark});
  const auto [scale, scale_box] = icon("scale", "Size of everything on screen");
  ui.paint.text_centred(scale_box.x + 10, y + 1, "A", Face::ui, 11, t.soft);
  ui.paint.text_centred(scale_box.x + 19, y, "A", Face::ui, 15, t.soft);
  if (scale) ui.ask(SetScale{s.scale >= 2 ? 1.0 : s.scale + 0.25});
  const auto [motion, motion_box] =
      icon("motion", s.reduce_motion ? "Moves are cuts. Show them again" : "Reduce motion: moves become cuts");
  ui.paint.text_centred(motion_box.x + 14, y, "»", Face::bold, 16, s.reduce_motion ? t.inset_border : t.soft);
  if (s.reduce_motion) ui.paint.line(motion_box.x + 6, y + 7, motion_box.x + 22, y - 7, t.soft, 1.5f);
  if (motion) ui.ask(SetReduceMotion{!s.reduce_motion});
}

}  // namespace fa::viz

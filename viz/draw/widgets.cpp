#include "viz/draw/widgets.h"

#include <algorithm>
#include <cmath>

namespace fa::viz {

Touch touch(const char* id, Box box) {
  ImGui::SetCursorScreenPos({box.x, box.y});
  Touch result;
  result.clicked = ImGui::InvisibleButton(id, {std::max(1.0f, box.w), std::max(1.0f, box.h)});
  result.hovered = ImGui::IsItemHovered();
  result.held = ImGui::IsItemActive();
  return result;
}

void tip(const Ui& ui, std::string_view text) {
  const ImVec2 mouse = ImGui::GetIO().MousePos, window = ImGui::GetIO().DisplaySize;
  const std::vector<std::string> lines = ui.paint.wrapped(text, 300, Face::ui, 12);
  float wide = 0;
  for (const std::string& line : lines) wide = std::max(wide, ui.paint.width(line, Face::ui, 12));
  Box box{mouse.x + 14, mouse.y + 16, wide + 20, static_cast<float>(lines.size()) * 17 + 12};
  box.x = std::min(box.x, window.x - box.w - 6);
  if (box.bottom() > window.y - 6) box.y = mouse.y - box.h - 8;
  const Paint over(ImGui::GetForegroundDrawList(), ui.theme, ui.paint.fonts());
  over.fill(box, ui.theme.dark ? rgb(0x2a323d) : rgb(0xffffff), 5);
  over.outline(box, ui.theme.inset_border, 5);
  float y = box.y + 14;
  for (const std::string& line : lines) {
    over.text(box.x + 10, y, line, Face::ui, 12, ui.theme.text);
    y += 17;
  }
}

float panel(const Ui& ui, Box box, std::string_view title, std::string_view badge) {
  const Theme& t = ui.theme;
  ui.paint.fill(box, t.panel, 8);
  ui.paint.outline(box, t.border, 8);
  ui.paint.text(box.x + 14, box.y + 19, title, Face::bold, 13.5f, t.text);
  if (!badge.empty()) {
    const float wide = ui.paint.width(badge, Face::ui, 11) + 20;
    const Box pill{box.right() - 12 - wide, box.y + 10, wide, 18};
    ui.paint.outline(pill, t.inset_border, 9);
    ui.paint.text(pill.x + 10, pill.y + 9, badge, Face::ui, 11, t.faint);
  }
  return box.y + 36;
}

std::optional<int> slider(const Ui& ui, const char* id, Box box, int value, int least, int most,
                          const SliderLook& look) {
  const Theme& t = ui.theme;
  const Color label = look.troubled ? t.bad : t.soft;
  ui.paint.text(box.x, box.y + 9, look.label, Face::ui, 13, label);
  ui.paint.text_right(box.right(), box.y + 9, look.value, Face::mono, 13, look.troubled ? t.bad : t.text);

  const auto share = [&](int v) {
    if (most <= least) return 0.0f;
    if (look.log)
      return std::log(static_cast<float>(v) / static_cast<float>(least)) /
             std::log(static_cast<float>(most) / static_cast<float>(least));
    return static_cast<float>(v - least) / static_cast<float>(most - least);
  };
  const float y = box.y + 24, x = box.x, w = box.w;
  const float at = std::clamp(share(value), 0.0f, 1.0f);
  const Touch touched = touch(id, {x - 4, y - 9, w + 8, 18});
  ui.paint.fill({x, y - 1.5f, w, 3}, t.inset_border, 1.5f);
  ui.paint.fill({x, y - 1.5f, w * at, 3}, look.color, 1.5f);
  ui.paint.circle(x + 6 + (w - 12) * at, y, touched.held || touched.hovered ? 7.0f : 6.0f, look.color);
  if (touched.hovered && !touched.held && !look.hint.empty()) tip(ui, look.hint);

  int wanted = value;
  if (touched.held) {
    const float mouse = std::clamp((ImGui::GetIO().MousePos.x - x - 6) / (w - 12), 0.0f, 1.0f);
    const float v =
        look.log ? static_cast<float>(least) * std::pow(static_cast<float>(most) / static_cast<float>(least), mouse)
                 : static_cast<float>(least) + mouse * static_cast<float>(most - least);
    wanted = static_cast<int>(std::lround(v));
  } else if (touched.hovered && ImGui::GetIO().MouseWheel != 0) {
    const int notch = ImGui::GetIO().MouseWheel > 0 ? 1 : -1;
    wanted = look.log ? (notch > 0 ? value * 2 : value / 2) : value + notch;
  } else {
    return std::nullopt;  // a value from the command line or a scene may lie beyond the slider's ends, and stays
  }
  wanted = std::clamp(wanted, least, most);
  return wanted == value ? std::nullopt : std::optional<int>(wanted);
}

bool toggle(const Ui& ui, const char* id, float right, float y, bool on) {
  const Box box{right - 36, y - 9, 36, 18};
  const Touch touched = touch(id, box);
  ui.paint.fill(box, on ? ui.theme.accent : ui.theme.inset_border, 9);
  ui.paint.circle(on ? box.right() - 9 : box.x + 9, y, 7, on ? ui.theme.on_accent : ui.theme.panel);
  return touched.clicked;
}

bool button(const Ui& ui, const char* id, Box box, std::string_view label, bool primary) {
  const Touch touched = touch(id, box);
  const Theme& t = ui.theme;
  const Color base = primary ? t.accent : t.inset;
  ui.paint.fill(box, touched.hovered ? mixed(base, t.text, 0.12f) : base, 5);
  if (!primary) ui.paint.outline(box, t.inset_border, 5);
  ui.paint.text_centred(box.x + box.w / 2, box.y + box.h / 2, label, primary ? Face::bold : Face::ui, 12.5f,
                        primary ? t.on_accent : t.text);
  return touched.clicked;
}

std::optional<std::string> picker(const Ui& ui, const char* id, Box box, std::string_view label, std::string_view shown,
                                  const std::vector<Choice>& choices, std::string_view current, Color color) {
  const Theme& t = ui.theme;
  const Touch touched = touch(id, box);
  ui.paint.fill(box, touched.hovered ? mixed(t.inset, t.text, 0.06f) : t.inset, 6);
  ui.paint.outline(box, t.inset_border, 6);
  const float y = box.y + box.h / 2;
  float x = box.x + 10;
  if (!label.empty()) x += ui.paint.text(x, y, label, Face::ui, 11.5f, t.faint) + 8;
  ui.paint.text_within(x, y, box.right() - 24 - x, shown, Face::bold, 12.5f, color != 0 ? color : t.text);
  ui.paint.triangle(box.right() - 18, y - 2.5f, box.right() - 10, y - 2.5f, box.right() - 14, y + 2.5f, t.soft);
  if (touched.clicked) ImGui::OpenPopup(id);

  std::optional<std::string> chosen;
  ImGui::SetNextWindowPos({box.x, box.bottom() + 4});
  ImGui::SetNextWindowSizeConstraints({box.w, 0}, {640, 420});
  if (ImGui::BeginPopup(id)) {
    for (const Choice& choice : choices)
      if (ImGui::Selectable(ui.paint.complete() ? choice.label.c_str() : plain(choice.label).c_str(),
                            choice.value == current))
        chosen = choice.value;
    ImGui::EndPopup();
  }
  return chosen;
}

std::optional<int> segments(const Ui& ui, const char* id, Box box, const std::vector<std::string>& words, int current) {
  const Theme& t = ui.theme;
  std::optional<int> chosen;
  ui.paint.fill(box, t.inset, 5);
  ui.paint.outline(box, t.inset_border, 5);
  const float w = box.w / static_cast<float>(words.size());
  ImGui::PushID(id);
  for (int i = 0; i < static_cast<int>(words.size()); ++i) {
    const Box one{box.x + w * static_cast<float>(i), box.y, w, box.h};
    ImGui::PushID(i);
    const Touch touched = touch("segment", one);
    ImGui::PopID();
    if (i == current) ui.paint.fill(one.inset(2), mixed(t.inset, t.text, t.dark ? 0.16f : 0.12f), 4);
    ui.paint.text_centred(one.x + w / 2, one.y + one.h / 2, words[static_cast<std::size_t>(i)],
                          i == current ? Face::bold : Face::ui, 12, i == current || touched.hovered ? t.text : t.soft);
    if (touched.clicked && i != current) chosen = i;
  }
  ImGui::PopID();
  return chosen;
}

bool troubled(const Ui& ui, Control control) { return ui.screen.trouble && ui.screen.trouble->control == control; }

void object(const Ui& ui, Control which, Box control) {
  if (!troubled(ui, which)) return;
  const std::string& sentence = ui.screen.trouble->sentence;
  const Theme& t = ui.theme;
  const Paint over(ImGui::GetForegroundDrawList(), t, ui.paint.fonts());
  const std::vector<std::string> lines = over.wrapped(sentence, 300, Face::ui, 12.5f);
  const float high = static_cast<float>(lines.size()) * 18 + 34, y = control.y + control.h / 2;
  const Box box{control.right() + 22, std::max(52.0f, y - 20), 330, high};
  over.triangle(box.x - 8, y, box.x, y - 7, box.x, y + 7, t.bad);
  over.fill(box, mixed(t.panel, t.bad, 0.14f), 6);
  over.outline(box, t.bad, 6, 1.5f);
  float line = box.y + 16;
  for (const std::string& text : lines) {
    over.text(box.x + 14, line, text, Face::ui, 12.5f, t.text);
    line += 18;
  }
  over.text(box.x + 14, line, "The last run that worked stays on screen.", Face::ui, 11.5f, t.soft);
}

}  // namespace fa::viz

#include "viz/draw/screen.h"

#include "viz/draw/panels.h"

namespace fa::viz {
namespace {

ImVec4 color4(Color color) { return ImGui::ColorConvertU32ToFloat4(color); }

// What ImGui draws itself: popups, their entries, the text field.
void style(const Theme& t) {
  ImGuiStyle& s = ImGui::GetStyle();
  s.WindowPadding = {8, 8};
  s.FramePadding = {8, 5};
  s.ItemSpacing = {8, 5};
  s.PopupRounding = 6;
  s.FrameRounding = 5;
  s.PopupBorderSize = 1;
  s.FrameBorderSize = 1;
  const auto set = [&](ImGuiCol which, Color color) { s.Colors[which] = color4(color); };
  set(ImGuiCol_Text, t.text);
  set(ImGuiCol_TextDisabled, t.faint);
  set(ImGuiCol_TextSelectedBg, faded(t.accent, 0.35f));
  set(ImGuiCol_InputTextCursor, t.text);
  set(ImGuiCol_PopupBg, t.dark ? mixed(t.panel, t.text, 0.04f) : t.panel);
  set(ImGuiCol_Border, t.inset_border);
  set(ImGuiCol_FrameBg, t.inset);
  set(ImGuiCol_FrameBgHovered, t.inset);
  set(ImGuiCol_FrameBgActive, t.inset);
  set(ImGuiCol_Header, faded(t.accent, 0.22f));
  set(ImGuiCol_HeaderHovered, faded(t.accent, 0.16f));
  set(ImGuiCol_HeaderActive, faded(t.accent, 0.3f));
  set(ImGuiCol_ScrollbarBg, t.panel);
  set(ImGuiCol_ScrollbarGrab, t.inset_border);
}

// Keys, unless something is being typed.
void keys(const Ui& ui) {
  if (ImGui::GetIO().WantTextInput) return;
  const ImGuiIO& io = ImGui::GetIO();
  const Stride unit = io.KeyCtrl ? Stride::phase : io.KeyShift ? Stride::tile : Stride::step;
  if (ImGui::IsKeyPressed(ImGuiKey_Space, false)) ui.ask(Play{!ui.screen.playback.playing});
  if (ImGui::IsKeyPressed(ImGuiKey_RightArrow)) ui.ask(Move{unit, 1});
  if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow)) ui.ask(Move{unit, -1});
  if (ImGui::IsKeyPressed(ImGuiKey_Home, false)) ui.ask(SeekTo{0});
  if (ImGui::IsKeyPressed(ImGuiKey_End, false)) ui.ask(SeekTo{ui.screen.tiles.steps});
  if (ImGui::IsKeyPressed(ImGuiKey_Equal) || ImGui::IsKeyPressed(ImGuiKey_KeypadAdd))
    ui.ask(SetSpeed{faster(ui.screen.playback.speed, 1)});
  if (ImGui::IsKeyPressed(ImGuiKey_Minus) || ImGui::IsKeyPressed(ImGuiKey_KeypadSubtract))
    ui.ask(SetSpeed{faster(ui.screen.playback.speed, -1)});
  if (ImGui::IsKeyPressed(ImGuiKey_F, false)) ui.ask(ViewRange{0, ui.screen.tiles.steps});
  if (ImGui::IsKeyPressed(ImGuiKey_T, false))
    ui.ask(SetTheme{ui.screen.theme == ThemeName::dark ? ThemeName::light : ThemeName::dark});
  if (io.KeyShift && ImGui::IsKeyPressed(ImGuiKey_Slash, false)) ui.ask(ShowHelp{!ui.screen.help});
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ui.ask(ShowHelp{false});
}

void page_tabs(const Ui& ui, const Layout& at) {
  if (at.left_tabs.shown())
    if (auto chosen = segments(ui, "left page", at.left_tabs, {"Problem, tiling", "Predict"},
                               static_cast<int>(ui.screen.left_page)))
      ui.ask(ShowLeftPage{static_cast<LeftPage>(*chosen)});
  if (at.page_tabs.shown())
    if (auto chosen = segments(ui, "page", at.page_tabs, {"Tiles, softmax", "Memory, whole run"},
                               static_cast<int>(ui.screen.page)))
      ui.ask(ShowPage{static_cast<Page>(*chosen)});
}

}  // namespace

Intents draw_screen(const Screen& screen, DrawState& state, const Fonts& fonts) {
  const Theme& theme = theme_of(screen.theme);
  style(theme);
  Intents intents;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                     ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::Begin("FlashScope", nullptr, flags);
  ImGui::PopStyleVar(3);
  {
    const Paint paint(ImGui::GetWindowDrawList(), theme, fonts);
    const Ui ui{paint, theme, screen, state, intents};
    const Layout at = layout(size.x, size.y, screen.page, screen.left_page);
    paint.fill({0, 0, size.x, size.y}, theme.window);
    // The help lies over everything: a click anywhere closes it and touches nothing else.
    if (screen.help && touch("behind help", {0, 0, size.x, size.y}).clicked) ui.ask(ShowHelp{false});
    draw_top_bar(ui, at.bar);
    page_tabs(ui, at);
    if (at.problem.shown()) draw_problem(ui, at.problem);
    if (at.tiling.shown()) draw_tiling(ui, at.tiling);
    if (at.predict.shown()) draw_predict(ui, at.predict);
    if (at.tiles.shown()) draw_tiles(ui, at.tiles);
    if (at.softmax.shown()) draw_softmax(ui, at.softmax);
    if (at.memory.shown()) draw_memory(ui, at.memory);
    if (at.bars.shown()) draw_bars(ui, at.bars);
    draw_timeline(ui, at.timeline);
    if (screen.help) draw_help(ui, size.x, size.y);
    keys(ui);
  }
  ImGui::End();
  return intents;
}

}  // namespace fa::viz

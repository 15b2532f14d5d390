#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/draw/panels.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

// The scores of the tile, one bar a key. Where there are too many for a label each, only the largest has one.
void draw_scores(const Ui& ui, const SoftmaxScene& s, Box box) {
  const Theme& t = ui.theme;
  ui.paint.text(box.x, box.y + 6, "scores of this tile", Face::ui, 11.5f, t.faint);
  if (s.scores.empty()) {
    ui.paint.paragraph(box.x, box.y + 30, box.w, "S is computed in a later step of this tile.", Face::ui, 12, t.faint);
    return;
  }
  const float top = box.y + 20;
  const float pitch = std::min(24.0f, (box.bottom() - top) / static_cast<float>(s.scores.size()));
  const bool labelled = pitch >= 12.5f;
  float least = 0, most = 0;
  for (const Score& score : s.scores)
    if (!score.masked && std::isfinite(score.value)) {
      least = std::min(least, score.value);
      most = std::max(most, score.value);
    }
  const float names = labelled ? 64.0f : 8.0f, numbers = labelled ? 44.0f : 96.0f, left = least < 0 ? 44.0f : 4.0f;
  const float room = std::max(20.0f, box.w - names - numbers - left);
  const float unit = room / std::max(1e-6f, most - least), axis = box.x + names + left - least * unit;
  ui.paint.line(axis, top, axis, top + pitch * static_cast<float>(s.scores.size()), t.inset_border);
  float y = top + pitch / 2;
  for (const Score& score : s.scores) {
    if (labelled) {
      const float wide = std::min(names - 8, ui.paint.width(score.label, score.largest ? Face::bold : Face::ui, 12));
      ui.paint.text_within(box.x + names - 8 - wide, y, names - 8, score.label, score.largest ? Face::bold : Face::ui,
                           12, score.masked ? t.faint : t.text);
    }
    if (score.masked) {
      const Box hidden{axis + 1, y - pitch * 0.32f, 34, pitch * 0.64f};
      ui.paint.hatch(hidden, faded(t.soft, 0.6f), 4);
      if (labelled) ui.paint.text(axis + 40, y, "−∞", Face::mono, 11.5f, t.faint);
    } else {
      const float length = score.value * unit;
      const Box bar{std::min(axis, axis + length), y - pitch * 0.34f, std::max(1.0f, std::fabs(length)), pitch * 0.68f};
      ui.paint.fill(bar, score.largest ? t.of(Tensor::S) : mixed(t.panel, t.of(Tensor::S), 0.5f), 2);
      if (labelled || score.largest) {
        const std::string value = number(static_cast<double>(score.value));
        const Color ink = score.largest ? t.text : t.soft;
        float after = std::max(bar.right(), axis) + 5;
        if (length >= 0)
          after += ui.paint.text(bar.right() + 5, y, value, Face::mono, 11.5f, ink) + 6;
        else
          ui.paint.text_right(bar.x - 5, y, value, Face::mono, 11.5f, ink);
        if (!labelled) ui.paint.text(after, y, score.label, Face::bold, 12, t.text);
      }
    }
    y += pitch;
  }
}

void draw_formulas(const Ui& ui, const SoftmaxScene& s, Box box) {
  const Theme& t = ui.theme;
  const float pitch = std::min(36.0f, (box.h - 20) / 5.0f);
  float y = box.y + 10;
  for (const Formula& formula : s.formulas) {
    if (formula.fresh) ui.paint.fill({box.x - 6, y - pitch / 2 + 1, box.w + 12, pitch - 2}, faded(t.accent, 0.12f), 4);
    ui.paint.text(box.x, y, formula.symbol, Face::mono, 12.5f, formula.matters ? t.accent : t.soft);
    const float size = formula.matters ? 17.0f : 13.0f;
    const float result = formula.result.empty() ? 0.0f : ui.paint.width(formula.result, Face::mono, size);
    ui.paint.text_within(box.x + 64, y, box.w - 64 - result - 10, "= " + formula.expression, Face::mono, 12.5f,
                         formula.known ? t.text : t.faint);
    ui.paint.text_right(box.right(), y, formula.result, Face::mono, size,
                        !formula.known    ? t.faint
                        : formula.matters ? t.accent
                                          : t.text);
    y += pitch;
  }
  y = box.bottom() - 8;
  if (s.invariant) {
    const std::string text = fmt::format("check over {} keys: l · e^m = {}, Σ e^s = {}", s.invariant->keys,
                                         number(s.invariant->left), number(s.invariant->right));
    const Color ink = s.invariant->holds ? t.good : t.bad;
    if (s.invariant->holds)
      ui.paint.tick(box.x + 5, y, ink);
    else
      ui.paint.cross(box.x + 5, y, ink);
    ui.paint.text_within(box.x + 17, y, box.w - 17, text, Face::ui, 12, ink);
  } else {
    ui.paint.text(box.x, y, "check: l · e^m = Σ e^s, once l is there", Face::ui, 12, t.faint);
  }
}

void draw_output(const Ui& ui, const SoftmaxScene& s, Box box) {
  const Theme& t = ui.theme;
  float most = 1e-6f;
  for (const std::vector<float>* values : {&s.o_before, &s.o_after})
    for (float value : *values)
      if (std::isfinite(value)) most = std::max(most, std::fabs(value));
  const float high = (box.h - 34) / 2;
  const auto bars = [&](Box place, const std::vector<float>& values, std::string_view title, Color color) {
    ui.paint.text(place.x, place.y + 6, title, Face::ui, 11.5f, t.faint);
    const float axis = place.y + 16 + (place.h - 18) / 2;
    ui.paint.line(place.x, axis, place.right(), axis, t.inset_border);
    if (values.empty()) return;
    const float w = place.w / static_cast<float>(values.size()), half = (place.h - 18) / 2;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = std::isfinite(values[i]) ? values[i] : 0;
      const float length = value / most * half;
      ui.paint.fill({place.x + w * static_cast<float>(i), std::min(axis, axis - length),
                     std::max(1.0f, w - (w > 3 ? 1.0f : 0.0f)), std::max(0.5f, std::fabs(length))},
                    color);
    }
  };
  const bool zero = std::all_of(s.o_before.begin(), s.o_before.end(), [](float value) { return value == 0; });
  bars({box.x, box.y, box.w, high + 14}, s.o_before,
       s.o_before.empty() ? "O before: not yet"
       : zero             ? "O before: all 0"
                          : "O before",
       mixed(t.panel, t.of(Tensor::O), 0.55f));
  bars({box.x, box.y + high + 18, box.w, high + 14}, s.o_after,
       s.o_after.empty()   ? "O after: to come"
       : s.o_normalised    ? "O / l: the attention"
       : s.o_rescaled_only ? "O rescaled"
                           : "O after",
       t.of(Tensor::O));
}

}  // namespace

void draw_softmax(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const SoftmaxScene& s = ui.screen.softmax;
  std::string title = fmt::format("Online softmax: row {}", s.row);
  if (!s.label.empty()) title += ", “" + s.label + "”";
  const float top = panel(ui, box, title, "real values");
  const float after = box.x + 14 + ui.paint.width(title, Face::bold, 13.5f) + 12;
  if (!s.keys.empty())
    ui.paint.text(after, box.y + 19, fmt::format("keys {}", rows_text(s.keys)), Face::mono, 11.5f, t.faint);
  if (!ui.screen.row_follows && button(ui, "follow", {box.right() - 226, box.y + 8, 120, 22}, "follow the block"))
    ui.ask(FollowRow{});

  const Box inside{box.x + 14, top, box.w - 28, box.bottom() - 10 - top};
  if (s.kind == SoftmaxKind::waiting && !s.formulas.empty()) {
    // What is going to happen, in symbols, until there are numbers.
    const float w = inside.w * 0.36f;
    const float y = ui.paint.paragraph(inside.x, inside.y + 12, w, s.message, Face::ui, 13, t.text, 20);
    const float below = ui.paint.paragraph(
        inside.x, y + 2, w, "Each tile of scores then updates m, l and O like this, row by row:", Face::ui, 12.5f,
        t.soft, 18);
    if (button(ui, "go", {inside.x, below + 4, 168, 28}, "Go to its first scores")) ui.ask(SeekTo{s.go_to});
    draw_formulas(ui, s, {inside.x + w + 30, inside.y, inside.w - w - 30, inside.h});
    return;
  }
  if (s.kind == SoftmaxKind::waiting || s.kind == SoftmaxKind::product) {
    const bool scores = !s.scores.empty();
    const float x = inside.x + (scores ? inside.w * 0.42f : 0);
    if (scores) draw_scores(ui, s, {inside.x, inside.y, inside.w * 0.38f, inside.h});
    const float y = ui.paint.paragraph(x, inside.y + 30, inside.right() - x, s.message, Face::ui, 13, t.soft, 20);
    if (s.go_to >= 0 && button(ui, "go", {x, y + 2, 168, 28}, "Go to its first scores")) ui.ask(SeekTo{s.go_to});
    return;
  }
  const float gap = inside.w > 600 ? 26.0f : 16.0f, scores_w = (inside.w - 2 * gap) * 0.32f,
              o_w = (inside.w - 2 * gap) * 0.2f;
  const float formulas_w = inside.w - scores_w - o_w - 2 * gap;
  draw_scores(ui, s, {inside.x, inside.y, scores_w, inside.h});
  draw_formulas(ui, s, {inside.x + scores_w + gap, inside.y, formulas_w, inside.h});
  const Box last{inside.right() - o_w, inside.y, o_w, inside.h};
  if (s.kind == SoftmaxKind::whole)
    ui.paint.paragraph(last.x, last.y + 8, last.w, s.message, Face::ui, 12, t.soft);
  else
    draw_output(ui, s, last);
}

void draw_predict(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const Screen& s = ui.screen;
  float y = panel(ui, box, "Predict, then step") + 4;
  const float x = box.x + 14, w = box.w - 28;
  if (s.verdict) {
    const Verdict& v = *s.verdict;
    const Color ink = v.right ? t.good : t.bad;
    if (v.right)
      ui.paint.tick(x + 6, y + 6, ink);
    else
      ui.paint.cross(x + 6, y + 6, ink);
    ui.paint.text(x + 20, y + 6, v.right ? "Right." : fmt::format("Not {}.", number(v.answer)), Face::bold, 13, ink);
    y += 28;
    ui.paint.text(
        x, y, fmt::format("exp({} − {}) =", number(v.asked.m_old), number(std::max(v.asked.m_old, v.asked.tile_max))),
        Face::mono, 12.5f, t.soft);
    ui.paint.text_right(x + w, y, number(v.asked.factor), Face::mono, 17, t.accent);
    y += 24;
    y = ui.paint.paragraph(
        x, y, w,
        v.asked.factor >= 1
            ? "No larger score came, so m stays and O keeps all it has."
            : fmt::format("Everything in O and l of this row keeps {} % of its size.", number(v.asked.factor * 100)),
        Face::ui, 12, t.soft, 17);
    if (s.prediction.asks && y + 30 < box.bottom()) {
      if (button(ui, "next", {x, box.bottom() - 40, 120, 27}, "Next question")) {
        ui.state.answer[0] = '\0';
        ui.ask(Answer{-1});
      }
    }
    return;
  }
  y = ui.paint.paragraph(x, y + 4, w, s.prediction.question, Face::ui, 12.5f, t.text, 18);
  if (!s.prediction.asks) return;
  y += 2;
  ImGui::SetCursorScreenPos({x, y});
  ImGui::SetNextItemWidth(w);
  ImGui::PushFont(ui.paint.mono(), 13);
  const bool entered =
      ImGui::InputTextWithHint("##answer", "exp(m_old - m_new) = ?", ui.state.answer, sizeof ui.state.answer,
                               ImGuiInputTextFlags_CharsScientific | ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  y += 34;
  const bool checked = button(ui, "check", {x, y, 84, 27}, "Check", true);
  ui.paint.text_within(x + 96, y + 14, w - 96, "→ reveals the step", Face::ui, 12, t.faint);
  if (entered || checked) {
    char* end = nullptr;
    const double answer = std::strtod(ui.state.answer, &end);
    if (end != ui.state.answer && std::isfinite(answer) && answer >= 0) ui.ask(Answer{answer});
  }
  y += 40;
  if (!s.notes.empty() && y + 10 < box.bottom()) {
    ui.paint.line(x, y - 6, x + w, y - 6, t.border);
    ui.paint.paragraph(x, y + 6, w, s.notes, Face::ui, 12, t.soft, 17);
  }
}

}  // namespace fa::viz

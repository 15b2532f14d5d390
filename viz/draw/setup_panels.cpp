#include <fmt/format.h>

#include <algorithm>

#include "viz/draw/panels.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

Specs with_n(Specs specs, int n) {
  specs.problem.n_q = specs.problem.n_kv = n;
  return specs;
}

}  // namespace

void draw_problem(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const Screen& s = ui.screen;
  const Problem& p = s.wanted.problem;
  float y = panel(ui, box, "Problem");
  const float x = box.x + 14, w = box.w - 28;
  const bool square = p.n_q == p.n_kv;

  Box at{x, y, w, 34};
  const std::string n = square ? std::to_string(p.n_q) : fmt::format("{} × {}", p.n_q, p.n_kv);
  if (auto value = slider(ui, "n", at, p.n_kv, 1, s.choices.n_most,
                          {square ? "n  tokens" : "n_q × n_kv", n,
                           s.choices.from_file ? "The first n tokens of the file"
                                               : "Tokens; more than this is too many to step through",
                           t.accent, troubled(ui, Control::n)}))
    ui.ask(Change{with_n(s.wanted, *value), Control::n});
  object(ui, Control::n, at);
  y += 38;

  at = {x, y, w, 34};
  if (s.choices.from_file) {
    const auto fixed = [&](std::string_view label, const std::string& value) {
      ui.paint.text(x, y + 9, label, Face::ui, 13, t.soft);
      ui.paint.text_right(x + w, y + 9, value, Face::mono, 13, t.text);
      y += 26;
    };
    fixed("d  head dimension", std::to_string(p.d));
    fixed("head", fmt::format("{} of {}", s.wanted.head, s.choices.heads.size()));
    const std::vector<std::string> lines = ui.paint.wrapped(s.head_name, w, Face::ui, 11.5f);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, lines.size()); ++i)
      ui.paint.text_within(x, y + 5 + 15 * static_cast<float>(i), w, lines[i], Face::ui, 11.5f, t.faint);
    y += 34;
  } else {
    if (auto value = slider(ui, "d", at, p.d / 8, 1, 32,
                            {"d  head dimension", std::to_string(p.d), "", t.accent, troubled(ui, Control::d)})) {
      Specs specs = s.wanted;
      specs.problem.d = *value * 8;
      ui.ask(Change{specs, Control::d});
    }
    object(ui, Control::d, at);
    y += 38;
    at = {x, y, w, 34};
    if (auto value = slider(ui, "heads", at, p.heads, 1, 8,
                            {"heads / kv heads", fmt::format("{} / {}", p.heads, p.kv_heads), "", t.accent,
                             troubled(ui, Control::heads)})) {
      Specs specs = s.wanted;
      specs.problem.heads = *value;
      if (specs.problem.heads % specs.problem.kv_heads != 0) specs.problem.kv_heads = 1;
      ui.ask(Change{specs, Control::heads});
    }
    object(ui, Control::heads, at);
    y += 42;
  }

  y += 6;
  ui.paint.text(x, y, "causal", Face::ui, 13, t.soft);
  if (toggle(ui, "causal", x + w, y, p.causal)) {
    Specs specs = s.wanted;
    specs.problem.causal = !specs.problem.causal;
    ui.ask(Change{specs, Control::causal});
  }
  object(ui, Control::causal, {x, y - 9, w, 18});
  y += 29;

  ui.paint.text(x, y, "element", Face::ui, 13, troubled(ui, Control::element) ? t.bad : t.soft);
  const Element elements[] = {Element::fp32, Element::fp16, Element::bf16};
  int current = -1;
  std::vector<std::string> words;
  for (int i = 0; i < 3; ++i) {
    words.emplace_back(name_of(elements[i]));
    if (elements[i] == p.element) current = i;
  }
  at = {x + w - 150, y - 12, 150, 24};
  if (auto value = segments(ui, "element", at, words, current)) {
    Specs specs = s.wanted;
    specs.problem.element = elements[*value];
    ui.ask(Change{specs, Control::element});
  }
  object(ui, Control::element, at);
  y += 25;
  if (y + 8 < box.bottom())
    ui.paint.text_within(x, y, w,
                         s.choices.from_file ? "real values, from " + s.input_name
                                             : fmt::format("random values, seed {}", s.wanted.seed),
                         Face::ui, 11.5f, t.faint);
}

void draw_sram_bar(const Ui& ui, Box box, const std::vector<Slot>& buffers, Bytes capacity) {
  const Theme& t = ui.theme;
  Bytes used;
  for (const Slot& slot : buffers) used += slot.bytes;
  const auto parts = [&](Box bar, double whole, bool names) {
    float x = bar.x;
    for (const Slot& slot : buffers) {
      const float w = static_cast<float>(static_cast<double>(slot.bytes.count()) / whole) * bar.w;
      const Box part{x, bar.y, std::max(w - 1, 0.5f), bar.h};
      ui.paint.fill(part, slot.filled ? t.of(slot.tensor) : mixed(t.inset, t.of(slot.tensor), 0.3f),
                    names ? 2.0f : 0.0f);
      if (names) ui.paint.outline(part, t.of(slot.tensor), 2);
      if (names && w > 16) {
        const Color ink = slot.filled ? (t.dark ? rgb(0x10141a) : rgb(0xffffff)) : t.text;
        ui.paint.text_centred(part.x + part.w / 2, part.y + part.h / 2, slot.name, Face::bold, 11, ink);
      }
      x += w;
    }
  };
  // The whole of SRAM, to scale.
  const Box whole{box.x, box.y, box.w, 8};
  ui.paint.fill(whole, t.inset, 2);
  ui.paint.outline(whole, t.inset_border, 2);
  parts(whole, std::max(1.0, static_cast<double>(capacity.count())), false);
  const double share = used / std::max(capacity, Bytes(1));
  if (buffers.empty()) return;
  // The used part again, wide enough to read.
  const float end = whole.x + std::max(1.0f, static_cast<float>(share) * whole.w);
  const Box zoom{box.x, box.y + 20, box.w, 22};
  ui.paint.line(whole.x, whole.bottom(), zoom.x, zoom.y, t.inset_border);
  ui.paint.line(end, whole.bottom(), zoom.right(), zoom.y, t.inset_border);
  parts(zoom, static_cast<double>(used.count()), true);
}

void draw_tiling(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const Screen& s = ui.screen;
  const Tiling& tiling = s.wanted.tiling;
  float y = panel(ui, box, "Tiling", "counted");
  const float x = box.x + 14, w = box.w - 28;

  // Named tilings, in the title's line.
  std::vector<Choice> names;
  std::vector<Tiling> presets;
  std::string current, shown = "named";
  const auto preset = [&](std::string_view name, const Tiling& one) {
    if (one == tiling && current.empty()) {
      current = std::to_string(presets.size());
      shown = name;
    }
    names.push_back({std::to_string(presets.size()), fmt::format("{}:  {} × {}", name, one.rows_q, one.rows_kv)});
    presets.push_back(one);
  };
  for (const NamedTiling& named : named_tilings)
    if ((named.program == "*" || named.program == s.wanted.program) && (named.d == 0 || named.d == s.wanted.problem.d))
      preset(named.name, named.tiling);
  preset("square", square_tiling(s.wanted.problem.d));
  if (auto chosen = picker(ui, "presets", {box.right() - 178, box.y + 7, 96, 23}, "", shown, names, current)) {
    Specs specs = s.wanted;
    specs.tiling = presets[static_cast<std::size_t>(std::stoi(*chosen))];
    ui.ask(Change{specs, Control::rows_q});
  }

  const auto rows = [&](const char* id, std::string_view label, Control control, Tensor tensor, int Tiling::*field) {
    const Box at{x, y, w, 34};
    if (auto value = slider(ui, id, at, tiling.*field, 1, 256,
                            {label, std::to_string(tiling.*field), "", t.of(tensor), troubled(ui, control), true})) {
      Specs specs = s.wanted;
      specs.tiling.*field = *value;
      ui.ask(Change{specs, control});
    }
    object(ui, control, at);
    y += 37;
  };
  rows("Br", "Br  rows of Q", Control::rows_q, Tensor::Q, &Tiling::rows_q);
  rows("Bc", "Bc  rows of K, V", Control::rows_kv, Tensor::K, &Tiling::rows_kv);

  ui.paint.text(x, y + 10, "SRAM per block", Face::ui, 13, t.soft);
  ui.paint.text_right(x + w, y + 10, bytes_text(s.memory.sram_used) + " of " + bytes_text(s.memory.sram_per_block),
                      Face::mono, 12.5f, t.text);
  draw_sram_bar(ui, {x, y + 24, w, 46}, s.memory.sram, s.memory.sram_per_block);
  if (s.memory.sram.empty()) ui.paint.text(x, y + 46, "this launch uses registers only", Face::ui, 11.5f, t.faint);
}

}  // namespace fa::viz

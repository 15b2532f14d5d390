#include <fmt/format.h>

#include <algorithm>

#include "viz/draw/panels.h"
#include "viz/model/text.h"

namespace fa::viz {

void draw_bars(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const BarsScene& s = ui.screen.bars;
  const float top = panel(ui, box, "Whole run: requested HBM bytes per head", "counted");
  const float x = box.x + 14, w = box.w - 28;
  const Box slide{x, top - 2, std::min(250.0f, w * 0.45f), 34};
  if (auto n =
          slider(ui, "whole n", slide, s.n, 256, 65536,
                 {"n", thousands(s.n), "Programs are run, counting only, at this length", t.accent, false, true})) {
    // Round numbers: what people ask about.
    int rounded = 256;
    while (rounded * 3 / 2 <= *n) rounded *= 2;
    if (*n != s.n && rounded == s.n) rounded = *n > s.n ? s.n * 2 : s.n / 2;
    if (std::clamp(rounded, 256, 65536) != s.n) ui.ask(SetWholeRunN{std::clamp(rounded, 256, 65536)});
  }
  ui.paint.text_right(box.right() - 14, top + 8,
                      fmt::format("d {}{}, each with its usual tiles", s.d, s.causal ? ", causal" : ""), Face::ui,
                      11.5f, t.faint);
  const auto key = [&](float right, std::string_view word, bool written) {
    const float wide = ui.paint.width(word, Face::ui, 11.5f);
    const Box square{right - wide - 17, top + 20, 11, 11};
    ui.paint.fill(square, written ? mixed(t.panel, t.soft, 0.35f) : mixed(t.panel, t.soft, 0.8f), 2);
    if (written) ui.paint.hatch(square, t.text, 4);
    ui.paint.text_right(right, top + 26, word, Face::ui, 11.5f, t.soft);
    return square.x - 12;
  };
  key(key(box.right() - 14, "written", true), "read", false);

  const float first = top + 42,
              pitch = std::min(
                  34.0f, (box.bottom() - 8 - first) / static_cast<float>(std::max<std::size_t>(1, s.programs.size())));
  const float names = 198, numbers = 88, room = w - names - numbers;
  float y = first + pitch / 2;
  for (std::size_t i = 0; i < s.programs.size(); ++i) {
    const ProgramBytes& program = s.programs[i];
    const bool shown = program.program == ui.screen.specs.program, other = program.program == ui.screen.specs.beside;
    ui.paint.text_within(x, y, names - 66, program.title, shown ? Face::bold : Face::ui, 12.5f,
                         shown || other ? t.text : t.soft);
    ui.paint.text_right(x + names - 10, y, fmt::format("{}×{}", program.tiling.rows_q, program.tiling.rows_kv),
                        Face::mono, 11, t.faint);
    const Box track{x + names, y - pitch * 0.32f, room, pitch * 0.64f};
    if (!program.counted) {
      ui.paint.text_within(track.x, y, track.w + numbers, program.trouble.empty() ? "counting …" : program.trouble,
                           Face::ui, 11.5f, program.trouble.empty() ? t.faint : t.bad);
      y += pitch;
      continue;
    }
    const float unit = room / std::max(1.0f, static_cast<float>(s.longest.count()));
    const float read = static_cast<float>(program.read.count()) * unit,
                written = static_cast<float>(program.written.count()) * unit;
    const Color hue = shown ? t.of(Tensor::Q) : mixed(t.panel, t.soft, t.dark ? 0.6f : 0.65f);
    ui.paint.fill({track.x, track.y, std::max(1.0f, read), track.h}, hue, 2);
    const Box tail{track.x + read, track.y, std::max(1.0f, written), track.h};
    ui.paint.fill(tail, mixed(t.panel, hue, 0.45f), 2);
    ui.paint.hatch(tail, faded(t.text, 0.55f), 5);
    ui.paint.text(tail.right() + 7, y, bytes_text(program.read + program.written), Face::mono, 12,
                  shown ? t.text : t.soft);
    if (touch(fmt::format("program{}", i).c_str(), {x, y - pitch / 2, w, pitch}).hovered)
      tip(ui, fmt::format(
                  "{}, tiles {} × {}: {} read, {} written. {} stands in HBM while it runs; a block uses {} of SRAM.",
                  program.title, program.tiling.rows_q, program.tiling.rows_kv, bytes_text(program.read),
                  bytes_text(program.written), bytes_text(program.footprint), bytes_text(program.sram)));
    y += pitch;
  }
}

}  // namespace fa::viz

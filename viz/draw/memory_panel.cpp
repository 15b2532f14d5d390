#include <fmt/format.h>

#include <algorithm>

#include "viz/draw/panels.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

// A level's card. A low one has its words in one line.
void level(const Ui& ui, Box box, std::string_view name, std::string_view about) {
  const Theme& t = ui.theme;
  ui.paint.fill(box, t.inset, 6);
  ui.paint.outline(box, t.inset_border, 6);
  const bool low = box.h < 46;
  const float y = low ? box.y + box.h / 2 : box.y + 17;
  const float wide = ui.paint.text(box.x + 14, y, name, Face::bold, 13.5f, t.text);
  if (low)
    ui.paint.text(box.x + 14 + wide + 12, y, about, Face::ui, 11.5f, t.faint);
  else
    ui.paint.text(box.x + 14, box.y + 35, about, Face::ui, 11.5f, t.faint);
}

// In KiB, as all numbers of the table, so that they can be compared without reading units.
std::string kib(Bytes bytes) {
  if (bytes == Bytes(0)) return "–";
  const double value = static_cast<double>(bytes.count()) / 1024;
  return value >= 999.5 ? thousands(static_cast<std::int64_t>(value + 0.5))
                        : fmt::format("{:.{}f}", value,
                                      value < 0.1     ? 2
                                      : value < 99.95 ? 1
                                                      : 0);
}

void draw_table(const Ui& ui, const MemoryScene& s, Box box) {
  const Theme& t = ui.theme;
  const float names = 66, column = (box.w - names) / static_cast<float>(std::max<std::size_t>(1, s.tensors.size()));
  const float head = box.y + 14, read = box.y + 34, written = box.y + 53;
  ui.paint.text_right(box.x + names - 10, read, "read KiB", Face::ui, 11, t.faint);
  ui.paint.text_right(box.x + names - 10, written, "write KiB", Face::ui, 11, t.faint);
  for (std::size_t i = 0; i < s.tensors.size(); ++i) {
    const TensorTraffic& traffic = s.tensors[i];
    const float x = box.x + names + column * (static_cast<float>(i) + 0.5f);
    const Color hue = t.of(traffic.tensor);
    const auto cell = [&](float y, Bytes bytes, bool now) {
      const std::string text = kib(bytes);
      if (now) {
        const float wide = ui.paint.width(text, Face::mono, 12.5f) + 12;
        ui.paint.fill({x - wide / 2, y - 9, wide, 18}, faded(hue, 0.25f), 4);
        ui.paint.outline({x - wide / 2, y - 9, wide, 18}, hue, 4);
      }
      ui.paint.text_centred(x, y, text, Face::mono, 12.5f, bytes == Bytes(0) ? t.faint : t.text);
    };
    ui.paint.text_centred(x, head, name_of(traffic.tensor), Face::bold, 13, hue);
    cell(read, traffic.read, traffic.reads_now);
    cell(written, traffic.written, traffic.writes_now);
    if (touch(fmt::format("traffic{}", i).c_str(), {x - column / 2, box.y + 6, column, 62}).hovered)
      tip(ui, fmt::format("{}: {} bytes read, {} bytes written so far.", name_of(traffic.tensor),
                          thousands(traffic.read.count()), thousands(traffic.written.count())));
  }
}

}  // namespace

void draw_memory(const Ui& ui, Box box) {
  const Theme& t = ui.theme;
  const MemoryScene& s = ui.screen.memory;
  const float top = panel(ui, box, "Memory", "counted");
  const Box inside{box.x + 14, top + 2, box.w - 28, box.bottom() - 12 - top - 2};
  // Four levels and three gaps for arrows; what is left over goes to all of them.
  const bool low = inside.h < 306, lowest = inside.h < 268;
  const float heights[] = {lowest ? 84.0f
                           : low  ? 88.0f
                                  : 96.0f,
                           lowest ? 28.0f
                           : low  ? 32.0f
                                  : 48.0f,
                           lowest ? 72.0f
                           : low  ? 76.0f
                                  : 84.0f,
                           lowest ? 34.0f
                           : low  ? 44.0f
                                  : 52.0f};
  const float least = heights[0] + heights[1] + heights[2] + heights[3],
              arrows = std::clamp((inside.h - least) / 3, 6.0f, 56.0f);
  const float spare = std::clamp((inside.h - least - 3 * arrows) / 4, 0.0f, 40.0f);
  float y = inside.y;
  const auto next = [&](float high) {
    const Box result{inside.x, y, inside.w, high + spare};
    y += result.h + arrows;
    return result;
  };
  const Box hbm = next(heights[0]), l2 = next(heights[1]), sram = next(heights[2]), registers = next(heights[3]);

  level(ui, hbm, "HBM", fmt::format("{}, {:.1f} TB/s", bytes_text(s.dram), s.dram_gb_per_s / 1000));
  const float aside = inside.w > 480 ? 132.0f : 112.0f;
  draw_table(ui, s, {hbm.x + aside, hbm.y, hbm.w - aside - 8, 66});
  const float total = hbm.bottom() - 14;
  float x = hbm.x + 14;
  x += ui.paint.text(x, total, fmt::format("{} read · {} written", bytes_text(s.read), bytes_text(s.written)),
                     Face::bold, 13, t.text);
  if (!s.beside.empty())
    ui.paint.text_within(
        x + 16, total, hbm.right() - 12 - x - 16,
        fmt::format("{} so far: {} · {}", s.beside, bytes_text(s.beside_read), bytes_text(s.beside_written)), Face::ui,
        12.5f, t.soft);

  const std::string partitions = s.l2_partitions > 1 ? fmt::format(", {} partitions", s.l2_partitions) : std::string();
  level(ui, l2, "L2",
        fmt::format("{}{}{}", bytes_text(s.l2), partitions, low ? "" : "; every request passes through it"));
  const std::string dram = s.behind_l2 ? fmt::format("DRAM, whole run: {} read, {} written",
                                                     bytes_text(s.behind_l2->read), bytes_text(s.behind_l2->written))
                                       : std::string("DRAM: this GPU's L2 is not known");
  const float l2_y = low ? l2.y + l2.h / 2 : l2.y + 17;
  ui.paint.text_right(l2.right() - 14, l2_y, "modelled", Face::ui, 11.5f, t.faint);
  const float badge = ui.paint.width("modelled", Face::ui, 11.5f);
  ui.paint.text_right(l2.right() - 24 - badge, l2_y, dram, Face::mono, 12, t.text);

  level(ui, sram, "SRAM", bytes_text(s.sram_per_block) + " per block");
  const bool crosses = s.transfer && s.transfer->level == Level::registers;
  const float arrow_x = inside.x + inside.w * (s.transfer && !s.transfer->to_chip ? 0.54f : 0.42f);
  if (crosses) ui.paint.fill({arrow_x - 4.5f, sram.y, 9, sram.h}, faded(t.of(s.transfer->tensor), 0.25f));
  const float bar_x = sram.x + aside + 6, bar_w = sram.right() - 14 - bar_x;
  const float bar_y = sram.bottom() - 52;
  if (s.sram.empty())
    ui.paint.text(bar_x, bar_y + 12, "unused in this launch", Face::ui, 12, t.faint);
  else
    draw_sram_bar(ui, {bar_x, bar_y, bar_w, 46}, s.sram, s.sram_per_block);
  ui.paint.text_right(sram.right() - 14, sram.y + (lowest ? 12 : 17),
                      fmt::format("{} read, {} written", bytes_text(s.sram_read), bytes_text(s.sram_written)),
                      Face::mono, 12, t.text);

  std::string names;
  for (const Slot& slot : s.registers) names += (names.empty() ? "" : ", ") + slot.name;
  level(ui, registers, "Registers", names);
  const std::string exponentials = fmt::format("exponentials {}", count_text(s.exponentials));
  const std::string flops =
      fmt::format("matmul {}{}flop", count_text(s.flops.count()), s.flops.count() < 10'000 ? " " : "");
  const float right = registers.right() - 14, middle = registers.y + registers.h / 2;
  if (lowest) {
    ui.paint.text_right(right, middle, exponentials + "   " + flops, Face::mono, 12.5f, t.text);
  } else {
    ui.paint.text_right(right, middle - 10, exponentials, Face::mono, 12.5f, t.text);
    ui.paint.text_right(right, middle + 9, flops, Face::mono, 12.5f, t.text);
  }

  if (!s.transfer) return;
  // The transfer of this step, through every level that it crosses.
  const Transfer& moved = *s.transfer;
  const Color hue = t.of(moved.tensor);
  const auto arrow = [&](const Box& above, const Box& below) {
    const float a = above.bottom() - 3, b = below.y + 3;
    if (moved.to_chip)
      ui.paint.arrow(arrow_x, a, b, 9, hue);
    else
      ui.paint.arrow(arrow_x, b, a, 9, hue);
  };
  arrow(hbm, l2);
  arrow(l2, sram);
  if (crosses) arrow(sram, registers);
  const float label_y = (hbm.bottom() + l2.y) / 2;
  const std::string label = moved.name + "  " + bytes_text(moved.bytes);
  const float wide = ui.paint.width(label, Face::mono, 12) + 12;
  ui.paint.fill({arrow_x + 14, label_y - 9, wide, 18}, t.panel, 4);
  ui.paint.text(arrow_x + 20, label_y, label, Face::mono, 12, t.text);
}

}  // namespace fa::viz

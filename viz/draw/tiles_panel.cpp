#include <fmt/format.h>

#include <algorithm>

#include "viz/draw/grid_view.h"
#include "viz/draw/hbm_view.h"
#include "viz/draw/panels.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

struct Slots {
  std::vector<Box> places;  // by slot
};

Slots draw_slots(const Ui& ui, const TileScene& s, Box box) {
  const Theme& t = ui.theme;
  Slots result;
  result.places.resize(s.slots.size());
  const auto all =
      static_cast<float>(std::count_if(s.slots.begin(), s.slots.end(), [](const Slot& slot) { return !slot.aside; }));
  const bool any_sram =
      std::any_of(s.slots.begin(), s.slots.end(), [](const Slot& slot) { return slot.level == Level::sram; });
  const float headings = any_sram ? 52.0f : 26.0f;
  const float pitch = std::min(34.0f, (box.h - headings) / std::max(1.0f, all)), high = std::min(28.0f, pitch - 3);
  float y = box.y;
  for (Level level : {Level::sram, Level::registers}) {
    if (level == Level::sram && !any_sram) continue;
    const std::string whose = s.lane.empty() ? std::string("In registers") : "Registers, " + s.lane;
    ui.paint.text_within(box.x, y + 8, box.w, level == Level::sram ? "In SRAM" : whose, Face::ui, 11.5f, t.soft);
    y += 20;
    for (std::size_t i = 0; i < s.slots.size(); ++i) {
      const Slot& slot = s.slots[i];
      if (slot.level != level || slot.aside) continue;
      const Box place{box.x, y, box.w, high};
      const Color hue = t.of(slot.tensor);
      ui.paint.fill(place, slot.filled ? mixed(t.panel, hue, level == Level::sram ? 0.45f : 0.22f) : t.inset, 4);
      if (!slot.filled) ui.paint.hatch(place.inset(1), faded(t.inset_border, 0.8f), 7);
      ui.paint.outline(place,
                       slot.written  ? mixed(hue, t.text, 0.5f)
                       : slot.filled ? hue
                                     : t.inset_border,
                       4, slot.written ? 2.0f : 1.0f);
      const float middle = y + high / 2, size = std::min(12.5f, high - 3);
      ui.paint.text(place.x + 8, middle, slot.name, Face::bold, size, t.text);
      ui.paint.text_right(place.right() - 8, middle, slot.holds, Face::mono, std::min(11.0f, high - 3),
                          slot.filled ? t.text : t.faint);
      if (slot.read)
        ui.paint.triangle(place.right() + 2, middle - 4, place.right() + 2, middle + 4, place.right() + 7, middle,
                          t.soft);
      if (touch(fmt::format("slot{}", i).c_str(), place).hovered)
        tip(ui, fmt::format("{}: {} × {} numbers, {}. {}{}", slot.name, slot.shape.rows, slot.shape.cols,
                            bytes_text(slot.bytes), slot.filled ? "Holds " + slot.holds + "." : "Empty.",
                            slot.written ? " Just written."
                            : slot.read  ? " Just read."
                                         : ""));
      result.places[i] = place;
      y += pitch;
    }
    y += 6;
  }
  return result;
}

void draw_legend(const Ui& ui, float x, float y, bool causal) {
  const Theme& t = ui.theme;
  const Color hue = t.of(Tensor::S);
  const auto entry = [&](std::string_view word, auto square) {
    const Box box{x, y - 5, 11, 11};
    square(box);
    x += 16 + ui.paint.text(x + 16, y, word, Face::ui, 11.5f, t.soft) + 14;
  };
  entry("now", [&](Box box) {
    ui.paint.fill(box, mixed(t.inset, hue, 0.7f), 2);
    ui.paint.outline(box, hue, 2, 2);
  });
  entry("done", [&](Box box) { ui.paint.fill(box, mixed(t.inset, hue, 0.55f), 2); });
  entry("to come", [&](Box box) {
    ui.paint.fill(box, t.inset, 2);
    ui.paint.outline(box, t.inset_border, 2);
  });
  if (causal)
    entry("skipped", [&](Box box) {
      ui.paint.hatch(box, faded(t.soft, 0.6f), 4);
      ui.paint.outline(box, t.inset_border, 2);
    });
}

// The tile that is on its way, between its place in HBM and its slot; at rest it has arrived and is not drawn.
void draw_flight(const Ui& ui, const TileScene& s, const std::vector<Box>& hbm_places, const Slots& slots) {
  if (!s.transfer || ui.screen.motion >= 1 || s.transfer->slot < 0) return;
  const Box slot = slots.places[static_cast<std::size_t>(s.transfer->slot)];
  Box hbm{};
  for (std::size_t i = 0; i < s.hbm.size(); ++i)
    if (s.hbm[i].holds(s.transfer->tensor)) hbm = hbm_places[i];
  const Box from = s.transfer->to_chip ? hbm : slot, to = s.transfer->to_chip ? slot : hbm;
  const auto a = static_cast<float>(eased(ui.screen.motion));
  const float x = from.x + from.w / 2 + (to.x + to.w / 2 - from.x - from.w / 2) * a,
              y = from.y + from.h / 2 + (to.y + to.h / 2 - from.y - from.h / 2) * a;
  const Box chip{x - 24, y - 10, 48, 20};
  ui.paint.fill(chip, ui.theme.of(s.transfer->tensor), 4);
  ui.paint.text_centred(x, y, s.transfer->name, Face::bold, 12, ui.theme.dark ? rgb(0x10141a) : rgb(0xffffff));
}

}  // namespace

void draw_tiles(const Ui& ui, Box box) {
  const Screen& s = ui.screen;
  constexpr std::string_view title = "Tiles: S = Q Kᵀ, one tile at a time";
  const float top = panel(ui, box, title, "counted");
  draw_legend(ui, box.x + 14 + ui.paint.width(title, Face::bold, 13.5f) + 24, box.y + 19,
              s.tiles.causal && box.w > 540);

  const Box inside{box.x + 14, top + 2, box.w - 28, box.bottom() - 10 - top - 2};
  const bool low = (inside.h < 270 && inside.w > 660) || !s.beside;  // HBM then stands in columns at the right
  const float slots_w = box.w > 600 ? 130.0f : 112.0f, labels = s.row_labels.empty() ? 40.0f
                                                                : box.w > 600        ? 64.0f
                                                                                     : 50.0f;
  const float band_h = low ? 0.0f : std::clamp(inside.h * 0.22f, 62.0f, 150.0f), upper = inside.h - band_h - 4;
  const float hbm_w = !low ? 0.0f : s.beside ? 150.0f : 104.0f, slots_x = inside.right() - hbm_w - slots_w;
  const float room = slots_x - inside.x - 18;

  // The first program's grid is the larger one, by a third, if the height allows it.
  const float best = std::min(1.0f, static_cast<float>(s.tiles.n_kv) / static_cast<float>(std::max(1, s.tiles.n_q))) *
                     (upper - over_grid - under_grid);
  const float both = room - 24 - labels - beside_labels - 4 * side_strip;
  const float main_w = s.beside ? labels + 2 * side_strip + std::min(std::max(best, both / 2), both * 0.575f) : room;
  draw_side(ui, s.tiles, {inside.x, inside.y, main_w, upper}, true, labels, "grid");
  if (s.beside) {
    const Box other{inside.x + main_w + 24, inside.y, room - 24 - main_w, upper};
    ui.paint.line(other.x - 12, inside.y + 2, other.x - 12, inside.y + upper - 6, ui.theme.border);
    draw_side(ui, *s.beside, other, false, beside_labels, "grid beside");
  }
  const Slots slots = draw_slots(ui, s.tiles, {slots_x, inside.y, slots_w - 8, upper});
  std::vector<Box> hbm;
  if (low) {
    const float x = slots_x + slots_w + 4;
    hbm = draw_hbm_column(ui, s.tiles, {x, inside.y, s.beside ? 72.0f : 100.0f, upper});
    if (s.beside) draw_hbm_column(ui, *s.beside, {x + 76, inside.y, 72, upper});
  } else {
    hbm = draw_hbm_band(ui, s.tiles, s.beside ? &*s.beside : nullptr,
                        {inside.x, inside.bottom() - band_h, inside.w, band_h});
  }
  draw_flight(ui, s.tiles, hbm, slots);
}

}  // namespace fa::viz

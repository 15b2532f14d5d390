#include "viz/draw/hbm_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/model/text.h"

namespace fa::viz {
namespace {

// One tensor in HBM: what has been stored of it, and the tile that this step moves.
void draw_hbm_block(const Ui& ui, const HbmBlock& block, Box place) {
  const Theme& t = ui.theme;
  const Color hue = t.of(block.tensor);
  ui.paint.fill(place, mixed(t.panel, hue, block.operand ? 0.55f : 0.12f));
  const auto part = [&](const Rect& rect) {
    return Box{place.x + place.w * static_cast<float>(rect.cols.begin) / static_cast<float>(block.cols),
               place.y + place.h * static_cast<float>(rect.rows.begin) / static_cast<float>(block.rows),
               place.w * static_cast<float>(rect.cols.size()) / static_cast<float>(block.cols),
               place.h * static_cast<float>(rect.rows.size()) / static_cast<float>(block.rows)};
  };
  for (const Rect& rect : block.written) ui.paint.fill(part(rect), mixed(t.panel, hue, 0.75f));
  ui.paint.outline(place, mixed(t.panel, hue, 0.8f));
  if (block.moving.empty()) return;
  const Box moving = part(block.moving);
  ui.paint.fill(moving, hue);
  ui.paint.outline({moving.x - 1, moving.y - 1, moving.w + 2, moving.h + 2}, mixed(hue, t.text, 0.5f), 0, 1.5f);
}

// HBM of one program, every tensor a rectangle of its true proportions. Returns where each of them is.
std::vector<Box> draw_hbm(const Ui& ui, const TileScene& s, float x, float top, float scale) {
  std::vector<Box> places;
  for (const HbmBlock& block : s.hbm) {
    const Box place{x, top + 28, std::max(2.0f, static_cast<float>(block.cols) * scale),
                    std::max(2.0f, static_cast<float>(block.rows) * scale)};
    const std::string name = block.name();
    const float wide = ui.paint.width(name, Face::bold, 11.5f);
    ui.paint.text(place.x + std::max(0.0f, (place.w - wide) / 2), top + 20, name, Face::bold, 11.5f,
                  ui.theme.of(block.tensor));
    draw_hbm_block(ui, block, place);
    places.push_back(place);
    x += std::max(place.w, wide) + 7;
  }
  return places;
}

constexpr float hbm_head = 32;  // its line of words and the letters

// What its rectangles need beside their columns, in pixels, and their columns and rows.
struct HbmSize {
  float fixed = 0, cols = 0, rows = 1;
};
HbmSize hbm_size(const TileScene& s) {
  HbmSize size;
  for (const HbmBlock& block : s.hbm) {
    size.fixed += block.cols == 1 ? 30.0f : 8.0f;
    size.cols += static_cast<float>(block.cols);
    size.rows = std::max(size.rows, static_cast<float>(block.rows));
  }
  return size;
}

void name_hbm(const Ui& ui, const TileScene& s, float x, float y, float most) {
  Bytes all;
  for (const HbmBlock& block : s.hbm) all += block.bytes;
  ui.paint.text_within(x, y, most, fmt::format("{} in HBM, to scale: {}", s.title, bytes_text(all)), Face::ui, 11.5f,
                       ui.theme.faint);
}

}  // namespace

std::vector<Box> draw_hbm_band(const Ui& ui, const TileScene& main, const TileScene* beside, Box box) {
  const HbmSize a = hbm_size(main), b = beside ? hbm_size(*beside) : HbmSize{0, 0, 1};
  const float between = beside ? 26.0f : 0.0f;
  const float scale = std::min((box.w - between - a.fixed - b.fixed) / (a.cols + b.cols),
                               (box.h - hbm_head) / std::max(a.rows, b.rows));
  const float first = std::max(a.fixed + a.cols * scale, beside ? 224.0f : box.w);
  name_hbm(ui, main, box.x, box.y + 5, first);
  std::vector<Box> places = draw_hbm(ui, main, box.x, box.y, scale);
  if (beside) {
    name_hbm(ui, *beside, box.x + first + between, box.y + 5, box.w - first - between);
    draw_hbm(ui, *beside, box.x + first + between, box.y, scale);
  }
  return places;
}

std::vector<Box> draw_hbm_column(const Ui& ui, const TileScene& s, Box box) {
  float cols = 1, rows = 0;
  for (const HbmBlock& block : s.hbm) {
    cols = std::max(cols, static_cast<float>(block.cols));
    rows += static_cast<float>(block.rows);
  }
  const float gap = 5, letters = 28;
  const float scale =
      std::min((box.w - letters) / cols, (box.h - 20 - gap * static_cast<float>(s.hbm.size())) / std::max(1.0f, rows));
  ui.paint.text_within(box.x, box.y + 8, box.w, "HBM, to scale", Face::ui, 11, ui.theme.faint);
  std::vector<Box> places;
  float y = box.y + 20;
  for (const HbmBlock& block : s.hbm) {
    const Box place{box.x + letters, y, std::max(2.0f, static_cast<float>(block.cols) * scale),
                    std::max(2.0f, static_cast<float>(block.rows) * scale)};
    ui.paint.text_right(place.x - 5, y + place.h / 2, block.name(), Face::bold, 11, ui.theme.of(block.tensor));
    draw_hbm_block(ui, block, place);
    places.push_back(place);
    y += place.h + gap;
  }
  return places;
}

}  // namespace fa::viz

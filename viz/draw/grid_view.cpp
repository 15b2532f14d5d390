#include "viz/draw/grid_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/model/text.h"

namespace fa::viz {
namespace {

struct Grid {
  Box box;
  const TileScene& scene;

  float row_y(int row) const { return box.y + box.h * static_cast<float>(row) / static_cast<float>(scene.n_q); }
  float col_x(int col) const { return box.x + box.w * static_cast<float>(col) / static_cast<float>(scene.n_kv); }
  Box of(Rows rows, Rows cols) const {
    return {col_x(cols.begin), row_y(rows.begin), col_x(cols.end) - col_x(cols.begin),
            row_y(rows.end) - row_y(rows.begin)};
  }
};

// A rectangle pulled in, so that neighbours show as separate where there is room for that.
Box apart(Box box) {
  const float by = std::min(box.w, box.h) > 7 ? 1.0f : 0.0f;
  return {box.x + by, box.y + by, box.w - 2 * by, box.h - 2 * by};
}

void draw_grid(const Ui& ui, const Grid& grid) {
  const Theme& t = ui.theme;
  const TileScene& s = grid.scene;
  const Color hue = t.of(Tensor::S);
  for (const ScoreTile& tile : s.tiles) {
    const Box box = apart(grid.of(tile.rows, tile.cols));
    if (tile.state == TileState::skipped) {
      ui.paint.hatch(box, faded(t.soft, t.dark ? 0.28f : 0.4f), 6);
      ui.paint.outline(box, faded(t.inset_border, 0.7f), 2);
    } else {
      ui.paint.fill(box, t.inset, 2);
      ui.paint.outline(box, t.inset_border, 2);
    }
  }
  for (int row = 0; row < s.cells.rows; ++row)
    for (int col = 0; col < s.cells.cols; ++col) {
      const float weight = s.cells.at(row, col);
      if (weight < 0) continue;
      const Rows rows{row * s.cells.fold, std::min((row + 1) * s.cells.fold, s.n_q)},
          cols{col * s.cells.fold, std::min((col + 1) * s.cells.fold, s.n_kv)};
      const bool now = !s.now.empty() && rows.begin < s.now.rows.end && s.now.rows.begin < rows.end &&
                       cols.begin < s.now.cols.end && s.now.cols.begin < cols.end;
      // The square root spreads the small weights, which are most of them.
      const float strength = std::sqrt(weight);
      ui.paint.fill(apart(grid.of(rows, cols)),
                    mixed(t.inset, hue, (now ? 0.28f : 0.12f) + (now ? 0.72f : 0.66f) * strength),
                    grid.box.h / static_cast<float>(s.cells.rows) > 9 ? 2.0f : 0.0f);
    }
  if (!s.now.empty()) {
    const Box box = grid.of(s.now.rows, s.now.cols);
    ui.paint.outline({box.x - 1, box.y - 1, box.w + 2, box.h + 2}, hue, 3, 2);
  }
}

// Q or O beside the grid, K or V above it.
void draw_strip(const Ui& ui, const Grid& grid, const Strip& which, Box box, bool upright) {
  const Theme& t = ui.theme;
  const Color hue = t.of(which.tensor);
  ui.paint.fill(box, mixed(t.panel, hue, t.dark ? 0.22f : 0.2f), 2);
  const auto part = [&](Rows rows) {
    return upright ? Box{box.x, grid.row_y(rows.begin), box.w, grid.row_y(rows.end) - grid.row_y(rows.begin)}
                   : Box{grid.col_x(rows.begin), box.y, grid.col_x(rows.end) - grid.col_x(rows.begin), box.h};
  };
  for (Rows rows : which.done) ui.paint.fill(part(rows), hue, 1);
  if (which.now.empty()) return;
  const Box now = part(which.now);
  const bool partial = which.tensor == Tensor::O;  // being accumulated: not yet as full as what is done
  ui.paint.fill(now, partial ? mixed(t.panel, hue, 0.6f) : hue, 2);
  ui.paint.outline({now.x - 1, now.y - 1, now.w + 2, now.h + 2}, mixed(hue, t.text, 0.45f), 2, 1.5f);
}

// Labels of the rows, as many as there is room for; the chosen one always.
void draw_tokens(const Ui& ui, const Grid& grid, float right, float most, int chosen) {
  const Theme& t = ui.theme;
  const std::vector<std::string>& labels = ui.screen.row_labels;
  const float pitch = grid.box.h / static_cast<float>(grid.scene.n_q);
  const auto label = [&](int row, bool strong) {
    const std::string word = row < static_cast<int>(labels.size()) && !labels[static_cast<std::size_t>(row)].empty()
                                 ? labels[static_cast<std::size_t>(row)]
                                 : std::to_string(row);
    const float y = grid.row_y(row) + pitch / 2;
    const float wide = std::min(most, ui.paint.width(word, strong ? Face::bold : Face::ui, strong ? 12.0f : 11.0f));
    ui.paint.text_within(right - wide, y, most, word, strong ? Face::bold : Face::ui, strong ? 12.0f : 11.0f,
                         strong ? t.accent : t.faint);
  };
  const float chosen_y = grid.row_y(chosen);
  float free_from = grid.box.y - 6;
  for (int row = 0; row < grid.scene.n_q; ++row) {
    const float y = grid.row_y(row) + pitch / 2;
    if (row == chosen) continue;
    if (y - 6 < free_from || std::fabs(y - chosen_y - pitch / 2) < 12) continue;
    label(row, false);
    free_from = y + 6;
  }
  label(chosen, true);
  const float y = chosen_y + pitch / 2;
  ui.paint.triangle(right + 2, y - 4, right + 2, y + 4, right + 7, y, t.accent);
}

// Hover and click on the scores.
void use_grid(const Ui& ui, const char* id, const Grid& grid, bool main) {
  const Touch touched = touch(id, grid.box);
  if (!touched.hovered) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const TileScene& s = grid.scene;
  const int row =
      std::clamp(static_cast<int>((mouse.y - grid.box.y) / grid.box.h * static_cast<float>(s.n_q)), 0, s.n_q - 1);
  const int key =
      std::clamp(static_cast<int>((mouse.x - grid.box.x) / grid.box.w * static_cast<float>(s.n_kv)), 0, s.n_kv - 1);
  const auto label = [](const std::vector<std::string>& labels, int index) {
    return index < static_cast<int>(labels.size()) && !labels[static_cast<std::size_t>(index)].empty()
               ? fmt::format("“{}” ({})", labels[static_cast<std::size_t>(index)], index)
               : std::to_string(index);
  };
  const float weight = s.cells.at(row / s.cells.fold, key / s.cells.fold);
  std::string text =
      fmt::format("query {}, key {}: ", label(ui.screen.row_labels, row), label(ui.screen.key_labels, key));
  text +=
      weight < 0 ? "not computed, or masked." : fmt::format("exp(S − m) = {}.", number(static_cast<double>(weight)));
  if (main) text += " Click to follow this row in the softmax panel.";
  tip(ui, text);
  if (main && touched.clicked) ui.ask(SelectRow{row});
}

}  // namespace

void draw_side(const Ui& ui, const TileScene& s, Box box, bool main, float labels, const char* id) {
  const Theme& t = ui.theme;
  const float room_w = box.w - labels - 2 * side_strip, room_h = box.h - over_grid - under_grid;
  const float unit = std::min(room_w / static_cast<float>(s.n_kv), room_h / static_cast<float>(s.n_q));
  // A very short side is drawn a quarter of the long one.
  const float w = std::max(unit * static_cast<float>(s.n_kv), std::min(room_w, room_h / 4)),
              h = std::max(unit * static_cast<float>(s.n_q), std::min(room_h, room_w / 4));
  const float x = box.x + labels + side_strip, y = box.y + over_grid;
  const Grid grid{{x, y, w, h}, s};

  const float wide = ui.paint.text(box.x, box.y + 8, s.title, Face::bold, 12.5f, main ? t.text : t.soft);
  // How the two keep pace: below the grid, or beside the title where there is no room for that.
  const bool below = y + h + 62 < box.bottom();
  const float pairing_w = main || below ? 0.0f : 78.0f;
  if (const float most = box.w - wide - 14 - pairing_w; most > 40)
    ui.paint.text_within(box.x + wide + 8, box.y + 8, most, s.phase, Face::ui, 11.5f, t.faint);
  if (!main) {
    const Box place = below ? Box{box.x, y + h + 43, 78, 19} : Box{box.right() - pairing_w, box.y - 1, pairing_w, 19};
    if (below) ui.paint.text(place.right() + 8, place.y + 9.5f, "keeps pace", Face::ui, 11.5f, t.faint);
    if (auto chosen = segments(ui, "pairing", place, {"share", "tile"}, static_cast<int>(ui.screen.pairing)))
      ui.ask(SetPairing{static_cast<Pairing>(*chosen)});
    if (ImGui::IsMouseHoveringRect({place.x, place.y}, {place.right(), place.bottom()}))
      tip(ui, "How the two keep pace: by the share of their steps that is done, or tile for tile.");
  }

  const float k_y = y - 2 * (strip + strip_gap) + 2, v_y = k_y + strip + 2;
  draw_strip(ui, grid, s.K, {x, k_y, w, strip - 1}, false);
  draw_strip(ui, grid, s.V, {x, v_y, w, strip - 1}, false);
  draw_strip(ui, grid, s.Q, {x - side_strip, y, strip, h}, true);
  draw_strip(ui, grid, s.O, {x + w + strip_gap, y, strip, h}, true);
  ui.paint.text_right(x - side_strip - 2, k_y + 6, "K", Face::bold, 12, t.of(Tensor::K));
  ui.paint.text_right(x - side_strip - 2, v_y + 6, "V", Face::bold, 12, t.of(Tensor::V));
  ui.paint.text_centred(x - strip_gap - strip / 2, y - 9, "Q", Face::bold, 12, t.of(Tensor::Q));
  ui.paint.text_centred(x + w + strip_gap + strip / 2, y - 9, "O", Face::bold, 12, t.of(Tensor::O));
  draw_grid(ui, grid);
  if (main) {
    const float pitch = h / static_cast<float>(s.n_q), row_y = grid.row_y(ui.screen.softmax.row);
    ui.paint.outline({x - 1, row_y - 0.5f, w + 2, std::max(2.0f, pitch + 1)}, faded(t.accent, 0.75f), 0, 1);
    draw_tokens(ui, grid, x - side_strip - 10, labels - 12, ui.screen.softmax.row);
  }
  use_grid(ui, id, grid, main);
  ui.paint.text_within(box.x, y + h + 14, box.w, s.caption, Face::ui, 11.5f, t.soft);
  ui.paint.text_within(box.x, y + h + 31, box.w,
                       fmt::format("{} read, {} written", bytes_text(s.read), bytes_text(s.written)), Face::mono, 11.5f,
                       t.text);
}

}  // namespace fa::viz

#pragma once
// One program's score grid with its strips, tokens and counters.

#include "viz/draw/widgets.h"

namespace fa::viz {

constexpr float strip = 13, strip_gap = 4;                 // Q or O beside the grid, K or V above it
constexpr float side_strip = strip + strip_gap;            // Q or O, with its gap
constexpr float over_grid = 20 + 2 * (strip + strip_gap);  // title, K and V
constexpr float beside_labels = 14;                        // K and V
constexpr float under_grid = 40;                           // two lines of words

// `main`: the program that is stepped, with row labels `labels` wide; else the one beside it.
void draw_side(const Ui& ui, const TileScene& s, Box box, bool main, float labels, const char* id);

}  // namespace fa::viz

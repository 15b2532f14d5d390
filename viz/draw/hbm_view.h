#pragma once
// What stands in HBM, every tensor a rectangle of its true proportions. Both functions return where the tensors of the
// (first) program are, in the order of TileScene::hbm.

#include <vector>

#include "viz/draw/widgets.h"

namespace fa::viz {

// Both programs at one scale, side by side.
std::vector<Box> draw_hbm_band(const Ui& ui, const TileScene& main, const TileScene* beside, Box box);

// One program in a column, for a panel that is wide but low.
std::vector<Box> draw_hbm_column(const Ui& ui, const TileScene& s, Box box);

}  // namespace fa::viz

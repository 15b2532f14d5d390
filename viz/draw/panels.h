#pragma once
// One function per panel. Each paints its part of the screen into `box` and asks for what the user did.

#include "viz/draw/widgets.h"

namespace fa::viz {

void draw_top_bar(const Ui& ui, Box box);
void draw_problem(const Ui& ui, Box box);
void draw_tiling(const Ui& ui, Box box);
void draw_predict(const Ui& ui, Box box);
void draw_tiles(const Ui& ui, Box box);
void draw_softmax(const Ui& ui, Box box);
void draw_memory(const Ui& ui, Box box);
void draw_bars(const Ui& ui, Box box);
void draw_timeline(const Ui& ui, Box box);
void draw_help(const Ui& ui, float width, float height);

// SRAM of one block to scale, its named buffers in it, and a magnified strip where they would be too thin to see.
// Needs 46 of height.
void draw_sram_bar(const Ui& ui, Box box, const std::vector<Slot>& buffers, Bytes capacity);

}  // namespace fa::viz

#pragma once
// The whole frame: called between ImGui::NewFrame and Render by the window, the headless shell and the browser alike.

#include "viz/draw/widgets.h"

namespace fa::viz {

Intents draw_screen(const Screen& screen, DrawState& state, const Fonts& fonts);

}  // namespace fa::viz

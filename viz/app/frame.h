#pragma once

#include "viz/app/app.h"
#include "viz/draw/paint.h"

namespace fa::viz {

// One frame of the user interface, free of any window: between NewFrame and Render, by the window and the headless
// shell alike.
void ui_frame(App& app, const Fonts& fonts, double seconds);

}  // namespace fa::viz

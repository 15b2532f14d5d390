#pragma once

#include "viz/app/app.h"

namespace fa::viz {

// Shows the app in a window until it is closed. Throws InputError with one line if there is no display.
void show_window(App& app, int width, int height);

}  // namespace fa::viz

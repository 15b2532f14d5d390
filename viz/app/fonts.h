#pragma once

#include "viz/draw/paint.h"

namespace fa::viz {

// The system's Inter and JetBrains Mono into the present ImGui context; ImGui's own font where they are missing.
Fonts load_fonts();

}  // namespace fa::viz

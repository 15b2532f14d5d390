#pragma once
// Where the panels stand in a window of a given size, in logical pixels. A panel that is not shown has no width.

#include "viz/model/intent.h"

namespace fa::viz {

struct Box {
  float x = 0, y = 0, w = 0, h = 0;

  float right() const { return x + w; }
  float bottom() const { return y + h; }
  bool shown() const { return w > 0 && h > 0; }
  Box inset(float by) const { return {x + by, y + by, w - 2 * by, h - 2 * by}; }
};

struct Layout {
  Box bar, timeline;
  Box problem, tiling, predict;  // the left column
  Box tiles, softmax, memory, bars;
  Box left_tabs, page_tabs;  // shown where a column must take turns
};

inline constexpr float least_width = 1024, least_height = 700;

Layout layout(float width, float height, Page page, LeftPage left_page);

}  // namespace fa::viz

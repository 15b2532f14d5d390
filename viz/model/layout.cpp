#include "viz/model/layout.h"

#include <algorithm>

namespace fa::viz {
namespace {

constexpr float problem_height = 236, tiling_least = 184, predict_least = 176, softmax_least = 182, tab_height = 28,
                bars_enough = 168;  // where the panel above is short of room

}  // namespace

Layout layout(float width, float height, Page page, LeftPage left_page) {
  width = std::max(width, least_width);
  height = std::max(height, least_height);
  const bool roomy = width >= 1500 && height >= 860, three_columns = width >= 1280;
  const float gap = roomy ? 12.0f : 8.0f, edge = roomy ? 16.0f : 10.0f;
  const float bar = roomy ? 48.0f : 44.0f, timeline = height >= 860 ? 148.0f : 130.0f;

  Layout result;
  result.bar = {0, 0, width, bar};
  result.timeline = {edge, height - edge - timeline, width - 2 * edge, timeline};
  const float top = bar + edge, content = result.timeline.y - gap - top;

  // Two rows; the lower one takes a third, within what its panels need and can use.
  const float lower = std::clamp(content * 0.321f, softmax_least, 420.0f), upper = content - lower - gap;

  const float left = roomy ? 276.0f : 244.0f;
  const float left_x = edge, left_bottom = top + content;
  const float lower_y = top + upper + gap;
  if (upper >= problem_height + gap + tiling_least && lower >= predict_least) {
    result.problem = {left_x, top, left, problem_height};
    result.tiling = {left_x, top + problem_height + gap, left, upper - problem_height - gap};
    result.predict = {left_x, lower_y, left, lower};
  } else {
    result.left_tabs = {left_x, top, left, tab_height};
    const float y = top + tab_height + gap;
    if (left_page == LeftPage::setup) {
      result.problem = {left_x, y, left, problem_height};
      result.tiling = {left_x, y + problem_height + gap, left, left_bottom - y - problem_height - gap};
    } else {
      result.predict = {left_x, y, left, left_bottom - y};
    }
  }

  const float x = left_x + left + (roomy ? 16.0f : gap), rest = width - edge - x;
  if (three_columns) {
    const float column_gap = roomy ? 16.0f : gap;
    const float middle = (rest - column_gap) * 0.557f, right_x = x + middle + column_gap;
    result.tiles = {x, top, middle, upper};
    result.softmax = {x, lower_y, middle, lower};
    result.memory = {right_x, top, rest - middle - column_gap, upper};
    result.bars = {right_x, lower_y, rest - middle - column_gap, lower};
  } else {
    result.page_tabs = {x, top, rest, tab_height};
    const float y = top + tab_height + gap, last = page == Page::tiles ? lower : std::min(lower, bars_enough),
                first = content - tab_height - gap - last - gap;
    Box& above = page == Page::tiles ? result.tiles : result.memory;
    Box& below = page == Page::tiles ? result.softmax : result.bars;
    above = {x, y, rest, first};
    below = {x, y + first + gap, rest, last};
  }
  return result;
}

}  // namespace fa::viz

#include <vector>

#include "tests/catch.h"
#include "viz/draw/theme.h"
#include "viz/model/layout.h"

using namespace fa;
using namespace fa::viz;

namespace {

std::vector<Box> shown(const Layout& at) {
  std::vector<Box> boxes;
  for (const Box& box : {at.bar, at.timeline, at.problem, at.tiling, at.predict, at.tiles, at.softmax, at.memory,
                         at.bars, at.left_tabs, at.page_tabs})
    if (box.shown()) boxes.push_back(box);
  return boxes;
}

}  // namespace

TEST_CASE("no panel overlaps another or leaves the window, from 1024 × 700 up", "[viz]") {
  for (float width : {1024.0f, 1200.0f, 1279.0f, 1280.0f, 1366.0f, 1600.0f, 1920.0f, 2560.0f, 3840.0f})
    for (float height : {700.0f, 720.0f, 768.0f, 859.0f, 860.0f, 900.0f, 1080.0f, 1440.0f, 2160.0f})
      for (Page page : {Page::tiles, Page::memory})
        for (LeftPage left : {LeftPage::setup, LeftPage::predict}) {
          CAPTURE(width, height);
          const std::vector<Box> boxes = shown(layout(width, height, page, left));
          for (std::size_t i = 0; i < boxes.size(); ++i) {
            CHECK(boxes[i].x >= 0);
            CHECK(boxes[i].y >= 0);
            CHECK(boxes[i].right() <= width + 0.01f);
            CHECK(boxes[i].bottom() <= height + 0.01f);
            for (std::size_t j = 0; j < i; ++j)
              CHECK((boxes[i].x >= boxes[j].right() || boxes[j].x >= boxes[i].right() ||
                     boxes[i].y >= boxes[j].bottom() || boxes[j].y >= boxes[i].bottom()));
          }
        }
}

TEST_CASE("every panel has the room that its content needs", "[viz]") {
  for (float width : {1024.0f, 1280.0f, 1600.0f, 2560.0f})
    for (float height : {700.0f, 800.0f, 900.0f, 1440.0f}) {
      CAPTURE(width, height);
      for (Page page : {Page::tiles, Page::memory})
        for (LeftPage left : {LeftPage::setup, LeftPage::predict}) {
          const Layout at = layout(width, height, page, left);
          if (at.problem.shown()) CHECK(at.problem.h >= 236);
          if (at.tiling.shown()) CHECK(at.tiling.h >= 184);
          if (at.predict.shown()) CHECK(at.predict.h >= 170);
          if (at.softmax.shown()) CHECK(at.softmax.h >= 182);
          if (at.bars.shown()) CHECK(at.bars.h >= 168);
          if (at.tiles.shown()) CHECK(at.tiles.h >= 260);
          if (at.memory.shown()) CHECK(at.memory.h >= 284);
        }
    }
}

TEST_CASE("at 1600 × 900 the panels stand as they were drawn", "[viz]") {
  const Layout at = layout(1600, 900, Page::tiles, LeftPage::setup);
  CHECK(at.problem.w == 276);
  CHECK(at.tiles.w == Approx(702).margin(2));
  CHECK(at.memory.w == Approx(558).margin(2));
  CHECK(at.timeline.h == 148);
  CHECK_FALSE(at.left_tabs.shown());
  CHECK_FALSE(at.page_tabs.shown());
}

#pragma once
// Events on lanes by kind of work, one unit of length a step: an order, not a time.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "viz/model/outline.h"

namespace fa::viz {

enum class Lane { copy, tensor, exp, vector };
inline constexpr std::array<std::string_view, 4> lane_names{"copy", "tensor", "exp", "vector"};
Lane lane_of(Op op);

// A stretch of steps of one colour. Where there are more steps than columns, bars are columns and `share` says how much
// of each belongs to the lane.
struct Bar {
  Lane lane = Lane::copy;
  double first = 0, last = 0;  // in steps
  Tensor tensor = Tensor::none;
  bool store = false;
  double share = 1;
};

struct Mark {
  std::int64_t step = 0;
  std::string label;
};

struct RescaleTick {
  std::int64_t step = 0;  // when O has been rescaled
  double factor = 1;      // the smallest of its rows that had something to lose; below 1
};

struct TimelineScene {
  std::int64_t step = 0, steps = 0;
  std::int64_t first = 0, last = 0;  // the range in view
  std::vector<Bar> bars;
  std::vector<RescaleTick> rescales;
  std::vector<Mark> phases;
};

// Of what does not change while stepping: [first, last) of a run, in at most `columns` columns.
TimelineScene timeline_scene(const Run& run, const Outline& outline, std::int64_t first, std::int64_t last,
                             int columns);

}  // namespace fa::viz

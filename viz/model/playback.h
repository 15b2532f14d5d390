#pragma once
// Time into steps: pure, so that a picture of a moment needs no clock.

#include <cstdint>

namespace fa::viz {

struct Playback {
  bool playing = false;
  double speed = 1;    // 1: three steps a second
  double waiting = 0;  // the fraction of the next step that has passed
};

inline constexpr double speeds[] = {0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};
inline constexpr double steps_per_second = 3;

// The step after `seconds`; stops at the end.
inline std::int64_t advance(Playback& playback, std::int64_t step, std::int64_t steps, double seconds) {
  if (!playback.playing) return step;
  playback.waiting += seconds * playback.speed * steps_per_second;
  const auto whole = static_cast<std::int64_t>(playback.waiting);
  playback.waiting -= static_cast<double>(whole);
  if (step + whole >= steps) {
    playback.playing = false;
    playback.waiting = 0;
    return steps;
  }
  return step + whole;
}

// The next speed up or down the list.
inline double faster(double speed, int notches) {
  constexpr int count = static_cast<int>(sizeof(speeds) / sizeof(speeds[0]));
  int at = 0;
  while (at + 1 < count && speeds[at] < speed) ++at;
  at += notches;
  return speeds[at < 0 ? 0 : at >= count ? count - 1 : at];
}

// 0 → 1 with a soft start and end.
inline double eased(double t) { return t <= 0 ? 0 : t >= 1 ? 1 : t * t * (3 - 2 * t); }

}  // namespace fa::viz

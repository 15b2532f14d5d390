#pragma once
// The table of contents of a run: its events gathered into tiles, and tiles into phases.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace fa::viz {

// A stretch of events that works on one tile of scores: its loads, its arithmetic, and what is stored after it.
struct TileSpan {
  std::int64_t first = 0, last = 0;  // events [first, last)
  int launch = 0;
  std::int64_t block = 0;
  Head head = 0;
  Rows rows, cols;  // of S; cols are empty where no score is touched
  int phase = 0;
};

// A pass of the outermost loop: a launch, or what one launch does for each tile of its outer loop.
struct Phase {
  std::int64_t first = 0;
  std::string name;  // "block 2", "launch 1 of 3: S = Q Kᵀ"
};

struct Outline {
  std::vector<TileSpan> tiles;
  std::vector<Phase> phases;
  std::vector<int> tile_of;  // by event

  std::int64_t events() const { return static_cast<std::int64_t>(tile_of.size()); }
  // The tile that the event before `step` worked on; null before the first.
  const TileSpan* at(std::int64_t step) const {
    return step <= 0 || tiles.empty() ? nullptr
                                      : &tiles[static_cast<std::size_t>(tile_of[static_cast<std::size_t>(step - 1)])];
  }
};

Outline outline(const Run& run);

enum class Stride { step, tile, phase };

// `count` units forward or back from `step`. A tile or phase ends where its last event is done.
std::int64_t moved(const Outline& outline, std::int64_t step, Stride unit, int count);

}  // namespace fa::viz

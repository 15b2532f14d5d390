#pragma once
// What a block's warps execute for the numbers that each row has one of: the rescale factor, 1 / l, ln l.
//
// An instruction of a warp runs for 32 lanes, whether they hold 32 rows, 8 rows in four copies each (the accumulators of a
// tensor core), or all the same row. The hardware's counter of the special-function unit counts instructions, so copies
// count too, and so do idle lanes.

#include <cstdint>

#include "sim/core/tiles.h"

namespace fa {

struct RowWork {
  static constexpr int lanes = 32;

  int rows = 8;             // that one instruction serves
  std::int64_t times = 1;   // instructions for each so many rows
  std::int64_t in_all = 0;  // more of them, whatever the rows
  bool beyond = true;       // a tile's rows past the last of the tensor are computed like the others
  bool blind = false;       // so are rows that see no key, though there is nothing to compute

  friend constexpr bool operator==(const RowWork&, const RowWork&) = default;

  // Lanes that work for a tile of `whole` rows, of which `inside` exist; the first `blind_rows` of them see no key, and a
  // warp goes round the instruction if none of its rows does.
  constexpr std::int64_t executed(int whole, int inside, int blind_rows) const {
    const std::int64_t groups = ceil_div(beyond ? whole : inside, rows) - (blind ? 0 : blind_rows / rows);
    return lanes * (groups * times + in_all);
  }
};

// Those of a program's statistics.
struct RowStatistics {
  RowWork factor{.blind = true}, reciprocal{}, logarithm{};
};

}  // namespace fa

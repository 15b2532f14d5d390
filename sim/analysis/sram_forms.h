#pragma once
// The bytes that a program must move into and out of SRAM, computed without running it: the tile loops of the papers,
// times what the warps of a block make of each tile (sim/config/warps.h). Tests hold them equal to the counts.

#include <optional>
#include <string_view>

#include "sim/config/hardware.h"
#include "sim/config/pass.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"

namespace fa {

struct SramForm {
  Bytes read, written;

  friend bool operator==(const SramForm&, const SramForm&) = default;
};

// Nothing if there is no closed form of that name.
std::optional<SramForm> sram_closed_form(std::string_view program, const Problem& problem, const Tiling& tiling,
                                         const Hardware& hardware, Pass pass = Pass::forward);

}  // namespace fa

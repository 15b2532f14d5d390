#pragma once

#include <optional>
#include <string>

#include "sim/config/hardware.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"

namespace fa {

// Why this cannot be computed, as one full sentence that names the argument and what would work; nothing if it can.
// Whether a program's buffers fit in SRAM is known only when it opens them: the machine then says which one did not.
std::optional<std::string> why_invalid(const Problem& problem);
std::optional<std::string> why_invalid(const Problem& problem, const Tiling& tiling, const Hardware& hardware);

}  // namespace fa

#pragma once
// Specs as JSON: the one form that traces, measurement files and the output of every program share.

#include <nlohmann/json_fwd.hpp>

#include "sim/config/problem.h"
#include "sim/config/tiling.h"

namespace fa {

nlohmann::ordered_json to_json(const Problem& problem);
nlohmann::ordered_json to_json(const Tiling& tiling);

}  // namespace fa

#pragma once
// Numbers and tiles as the screen writes them: units always, thin spaces in thousands, a real minus sign.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/sim.h"

namespace fa::viz {

std::string thousands(std::int64_t count);   // "16 384"
std::string bytes_text(Bytes bytes);         // "768 B", "4.8 KiB", "2 172 MiB"
std::string count_text(std::int64_t count);  // "144", "41.0 k", "1.3 M": of operations
std::string number(double value);            // three digits that count: "2.31", "0.289", "−∞"

std::string subscript(std::int64_t index);  // "₁₂"
std::string rows_text(Rows rows);           // "8–15", or "8" for one

// "V₁", or "S₂,₁" where columns are cut too. `tiling` says which number a tile has.
std::string tile_name(Tensor tensor, Rows rows, Rows cols, const Tiling& tiling);

}  // namespace fa::viz

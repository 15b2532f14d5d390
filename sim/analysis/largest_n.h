#pragma once
// How far memory lets n grow: O(n²) tensors fill a GPU where O(n) ones leave it nearly empty.

#include <functional>

#include "sim/core/units.h"

namespace fa {

// The largest n, up to `limit`, whose footprint fits in `memory`; 0 if none does. A footprint never falls as n grows.
int largest_n(const std::function<Bytes(int n)>& footprint, Bytes memory, int limit = 1 << 30);

}  // namespace fa

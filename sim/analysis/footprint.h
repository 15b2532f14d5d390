#pragma once
// What stands in HBM while a program runs, and how far that lets n grow.

#include <cstdint>

#include "sim/record/run.h"

namespace fa {

struct Footprint {
  Bytes operands;  // Q, K, V, O: what any attention needs
  Bytes extra;     // S, P, keep: O(n²); or LSE, m, l: O(n)
  Bytes total() const { return operands + extra; }
};
Footprint footprint(const Run& run);

}  // namespace fa

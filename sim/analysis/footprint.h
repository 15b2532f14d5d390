#pragma once
// What stands in HBM while a program runs, and how far that lets n grow.

#include <cstdint>

#include "sim/record/run.h"

namespace fa {

struct Footprint {
  Bytes operands;  // Q, K, V, O; dO, dQ, dK, dV: what any attention needs
  Bytes extra;     // S, P, dP, dS, keep: O(n²); or LSE, m, l, D, dQ_acc: O(n)
  Bytes total() const { return operands + extra; }
};
Footprint footprint(const Run& run);

}  // namespace fa

#pragma once
// The rotation that Q and K go through before 8 bits ("incoherent processing", FA-3 paper, section 3.3): every row times
// an orthogonal matrix, random signs and then a Hadamard transform of each part. The simulator and the CUDA kernel share it.

#include <array>

#include "sim/core/random.h"

namespace fa {

constexpr int largest_rotated_d = 256;

// Numbers of a row that one transform mixes: the largest power of two that divides d.
constexpr int rotation_part(int d) { return d & -d; }

// Any signs will do, as long as Q and K have the same. True: the number changes its sign.
inline std::array<bool, largest_rotated_d> rotation_signs() {
  std::array<bool, largest_rotated_d> negative{};
  Random random(1);
  for (bool& sign : negative) sign = !random.chance(0.5);
  return negative;
}

}  // namespace fa

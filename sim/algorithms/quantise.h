#pragma once
// Q, K and V on their way to 8 bits (FA-3 paper, section 3.3).
//
// e4m3 keeps three bits of mantissa, so a tile with one large number loses its small ones. Two remedies: a scale for
// every tile instead of one for the tensor; and a random rotation of Q and K, which spreads an outlier over its whole
// row and leaves Q Kᵀ as it was, since the rotation is orthogonal.

#include <vector>

#include "sim/core/matrix.h"

namespace fa {

struct Quantisation {
  bool by_tile = true;  // a scale for every tile of rows; else one for each head
  bool rotate = true;   // "incoherent processing"
};

// One tensor in 8 bits: value = scale · stored, a scale for every `rows` rows of each head.
struct Quantised {
  std::vector<Matrix> stored;
  std::vector<std::vector<float>> scales;
  int rows = 1;
};
Quantised quantise(const std::vector<Matrix>& heads, int rows);

// The numbers that the 8 bits stand for.
std::vector<Matrix> dequantised(const Quantised& quantised);

// Every row times the same orthogonal matrix: random signs, then a Hadamard transform of each power-of-two part.
std::vector<Matrix> rotated(const std::vector<Matrix>& heads);

}  // namespace fa

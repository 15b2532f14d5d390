#pragma once
// What the tensor cores and the vector units compute on a tile, in fp32. Loops are ordered so that they vectorise
// without reassociating a sum: the result is the same on every machine.

#include <span>

#include "sim/core/matrix.h"

namespace fa::arithmetic {

// s ← scale · a bᵀ.   a: [rows, depth], b: [cols, depth], s: [rows, cols]
void multiply_transposed(MatrixView s, ConstMatrixView a, ConstMatrixView b, float scale);

// o ← o + p v, where row r of p counts only up to column visible[r]: a hidden key adds nothing, be it NaN.
// p: [rows, keys], v: [keys, cols], o: [rows, cols]
void multiply_add(MatrixView o, ConstMatrixView p, ConstMatrixView v, std::span<const int> visible);

// o ← o + pᵀ v, where row r of p counts only up to column visible[r], which never falls from row to row.
// p: [rows, keys], v: [rows, cols], o: [keys, cols]
void multiply_add_transposed(MatrixView o, ConstMatrixView p, ConstMatrixView v, std::span<const int> visible);

// m ← max(m, largest of s), by rows. A NaN score does not raise m; it reaches the result through exp.
void row_max(std::span<float> m, ConstMatrixView s);

// p ← exp(s − m), by rows; a row that has seen no key (m = −∞) gives 0, not NaN.
void exp_minus(MatrixView p, ConstMatrixView s, std::span<const float> m);

}  // namespace fa::arithmetic

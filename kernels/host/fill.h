// Constant values into device memory, for problems without keys or queries.
#pragma once

#include "kernels/attention.h"

namespace fa::kernels {

// Zero in every row of a [batch, n, heads, row_bytes] view whose strides count numbers of `bytes_each`; gaps are kept.
void fill_zero(const View& view, int batch, int n, int heads, int row_bytes, int bytes_each, Stream stream);

void fill(float* values, std::int64_t count, float value, Stream stream);

}  // namespace fa::kernels

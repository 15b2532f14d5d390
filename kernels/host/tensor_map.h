// Tensor maps: how the copy engine (TMA) of Hopper sees a view, with the boxes that it copies.
#pragma once

#include <cuda.h>

#include "kernels/attention.h"

namespace fa::kernels {

struct TensorMaps {
  CUtensorMap q, k, v, o;
};

// The map of a view [batch, n, heads, d]: coordinates (column, row, head, batch), boxes of box_rows rows × 128 bytes, with
// the 128-byte swizzle in shared memory. Throws if CUDA refuses it.
CUtensorMap tensor_map(const View& view, Element element, std::int64_t batch, std::int64_t n, std::int64_t heads,
                       std::int64_t d, int box_rows);

// Q in boxes of rows_q, K and V in boxes of rows_kv, O in boxes of o_rows.
TensorMaps tensor_maps(const Args& args, int rows_q, int rows_kv, int o_rows);

}  // namespace fa::kernels

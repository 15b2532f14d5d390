// Any element type as a float, and back, on the device.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "kernels/tools/tensor.h"

namespace fa::kernels {

__device__ inline float load_number(const void* data, std::int64_t index, Element element) {
  switch (element) {
    case Element::fp32: return static_cast<const float*>(data)[index];
    case Element::fp16: return __half2float(static_cast<const __half*>(data)[index]);
    case Element::bf16: return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
    case Element::e4m3: return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(data)[index]);
  }
  return 0;
}

__device__ inline void store_number(void* data, std::int64_t index, Element element, float value) {
  switch (element) {
    case Element::fp32: static_cast<float*>(data)[index] = value; break;
    case Element::fp16: static_cast<__half*>(data)[index] = __float2half_rn(value); break;
    case Element::bf16: static_cast<__nv_bfloat16*>(data)[index] = __float2bfloat16_rn(value); break;
    case Element::e4m3: static_cast<__nv_fp8_e4m3*>(data)[index] = __nv_fp8_e4m3(value); break;
  }
}

__device__ inline float rounded(float value, Element element) {
  switch (element) {
    case Element::fp32: return value;
    case Element::fp16: return __half2float(__float2half_rn(value));
    case Element::bf16: return __bfloat162float(__float2bfloat16_rn(value));
    case Element::e4m3: return static_cast<float>(__nv_fp8_e4m3(value));
  }
  return value;
}

// A tensor as kernels of the tools see it, with its numbers counted from 0 in the order [batch, n, heads, d].
struct Numbers {
  View view;
  Element element;
  int batch, n, heads, d;

  struct Place {
    std::int64_t batch, row, head, col;
  };
  __device__ Place place(std::int64_t i) const { return {i / d / heads / n, i / d / heads % n, i / d % heads, i % d}; }
  __device__ std::int64_t offset(Place p) const {
    return p.batch * view.batch_stride + p.row * view.row_stride + p.head * view.head_stride + p.col;
  }
  // Where the same number stands in a packed [batch, heads, n, d] array.
  __device__ std::int64_t packed(Place p) const { return ((p.batch * heads + p.head) * n + p.row) * d + p.col; }
  __device__ float load(Place p) const { return load_number(view.data, offset(p), element); }
  __host__ __device__ std::int64_t count() const { return std::int64_t{batch} * n * heads * d; }
};

inline Numbers numbers_of(const Tensor& t) { return {t.view(), t.element(), t.batch(), t.n(), t.heads(), t.d()}; }

// A loop over `count` items by a grid of any size.
#define FA_GRID_LOOP(i, count)                                                            \
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < (count); \
       i += std::int64_t{gridDim.x} * blockDim.x)

constexpr int loop_threads = 256;
inline int loop_blocks(std::int64_t count) {
  const std::int64_t blocks = (count + loop_threads - 1) / loop_threads;
  return static_cast<int>(blocks < 1 ? 1 : blocks > 8192 ? 8192 : blocks);
}

// A tensor, packed [batch, heads, n, d], times its scales if it has any.
template <class T>
__global__ void unpack_numbers(Numbers from, Scales scales, T* packed) {
  FA_GRID_LOOP(i, from.count()) {
    const auto place = from.place(i);
    T value = from.load(place);
    if (scales.data != nullptr) {
      const std::int64_t groups = (std::int64_t{from.n} + scales.rows - 1) / scales.rows;
      value *= scales.data[(place.batch * from.heads + place.head) * groups + place.row / scales.rows];
    }
    packed[from.packed(place)] = value;
  }
}

}  // namespace fa::kernels

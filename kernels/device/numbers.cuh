// The 16-bit element types as the kernels use them: storage, packing, and which C++ type an Element is.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "kernels/attention.h"

namespace fa::kernels {

inline constexpr float log2_e = 1.4426950408889634f;
inline constexpr float ln_2 = 0.6931471805599453f;
inline constexpr float infinity = __builtin_huge_valf();
inline constexpr float not_a_number = __builtin_nanf("");

// Two fp32 numbers, rounded to nearest even, as one register: `low` in the low half, as memory order wants it.
template <class Number>
__device__ __forceinline__ std::uint32_t pack(float low, float high) {
  if constexpr (std::is_same_v<Number, __half>) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  } else {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const std::uint32_t&>(pair);
  }
}

// The inverse.
template <class Number>
__device__ __forceinline__ float2 unpack(std::uint32_t packed) {
  if constexpr (std::is_same_v<Number, __half>) {
    return __half22float2(reinterpret_cast<const __half2&>(packed));
  } else {
    return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(packed));
  }
}

// First number of (batch, head) of a view: [n, d] with `row_stride` numbers between rows. 64-bit, as 2^31 is soon passed.
template <class Number>
__device__ __forceinline__ Number* head_of(const View& view, int batch, int head) {
  return static_cast<Number*>(view.data) + batch * view.batch_stride + head * view.head_stride;
}

}  // namespace fa::kernels

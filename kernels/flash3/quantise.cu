// Q, K and V on their way to 8 bits: a scale for each group of rows, and a rotation fused with the cast.   [FA-3 §3.3]
//
// One thread block owns the rows that share a scale.
//
//   pass 1   load a row │ rotate it │ largest |x| of all rows            scale = largest / 448
//   pass 2   load a row │ rotate it │ x / scale, rounded to e4m3 │ store          (from L2: pass 1 has just read it)
//
//   A row lies in neighbouring lanes, 8 numbers each: 16 bytes in, 8 bytes out. The Hadamard transform adds and subtracts
//   numbers that are 1, 2, 4 apart in a lane's registers, and 8, 16, … apart by a shuffle: d log2 d additions a row.
//
//  HBM, bytes: read 2·n·d, write n·d (and 4 for each group).   n = 4096, d = 128: 1 MiB read, 0.5 MiB written per head.
#include <cuda_fp8.h>

#include <stdexcept>

#include "kernels/device/numbers.cuh"
#include "kernels/host/cuda.h"
#include "sim/core/rotation.h"

namespace fa::kernels {
namespace {

constexpr float largest_e4m3 = 448.0f;
constexpr int threads = 256, each = 8;  // numbers that a lane holds of a row

// Bit c: column c changes its sign.
struct Signs {
  std::uint32_t words[largest_rotated_d / 32] = {};
};

Signs signs() {
  Signs result;
  const auto negative = rotation_signs();
  for (int c = 0; c < largest_rotated_d; ++c)
    result.words[c / 32] |= static_cast<std::uint32_t>(negative[static_cast<std::size_t>(c)]) << c % 32;
  return result;
}

// x ← x H / √part, for the `part` numbers that part / 8 neighbouring lanes hold. All lanes of the warp take part.
__device__ void hadamard(float (&x)[each], int part) {
#pragma unroll
  for (int half = 1; half < each; half *= 2)
#pragma unroll
    for (int i = 0; i < each; ++i)
      if ((i & half) == 0) {
        const float a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
  for (int lanes = 1; lanes * each < part; lanes *= 2) {
    const bool upper = (threadIdx.x & lanes) != 0;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const float other = __shfl_xor_sync(0xffffffff, x[i], lanes);
      x[i] = upper ? other - x[i] : x[i] + other;
    }
  }
  const float norm = 1.0f / sqrtf(static_cast<float>(part));
#pragma unroll
  for (int i = 0; i < each; ++i) x[i] *= norm;
}

template <class Number>
__global__ void __launch_bounds__(threads) quantise_rows(Cast cast, Signs signs, int lanes_each) {
  const Number* const from = head_of<const Number>(cast.from, blockIdx.z, blockIdx.y);
  auto* const to = head_of<unsigned char>(cast.to, blockIdx.z, blockIdx.y);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * cast.rows;
  const std::int64_t end = min(first + cast.rows, static_cast<std::int64_t>(cast.n));
  const int lane = threadIdx.x % lanes_each, column = lane * each;
  const int rows_at_once = threads / lanes_each;
  const unsigned flips = signs.words[column / 32] >> column % 32;

  // The numbers of row `row` that this lane holds, rotated; zeros beyond the rows and columns that there are.
  const auto load = [&](float(&x)[each], std::int64_t row) {
    uint4 packed = make_uint4(0, 0, 0, 0);
    if (row < end && column < cast.d)
      packed = *reinterpret_cast<const uint4*>(from + row * cast.from.row_stride + column);
    const std::uint32_t pairs[] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int i = 0; i < each / 2; ++i) {
      const float2 pair = unpack<Number>(pairs[i]);
      x[2 * i] = pair.x;
      x[2 * i + 1] = pair.y;
    }
    if (!cast.rotate) return;
#pragma unroll
    for (int i = 0; i < each; ++i) x[i] = (flips >> i & 1) != 0 ? -x[i] : x[i];
    hadamard(x, rotation_part(cast.d));
  };

  float largest = 0;  // of the numbers that are finite: the others stay what they are under any scale
  for (std::int64_t row = first; row < end; row += rows_at_once) {  // the same steps for all lanes of a warp
    float x[each];
    load(x, row + threadIdx.x / lanes_each);
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (isfinite(x[i])) largest = fmaxf(largest, fabsf(x[i]));
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, apart));
  __shared__ float of_warps[threads / 32];
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = largest;
  __syncthreads();  // every warp's largest is there
#pragma unroll
  for (int warp = 0; warp < threads / 32; ++warp) largest = fmaxf(largest, of_warps[warp]);
  const float scale = largest > 0 ? largest / largest_e4m3 : 1.0f;
  if (threadIdx.x == 0)
    cast.scales[(static_cast<std::int64_t>(blockIdx.z) * cast.heads + blockIdx.y) * gridDim.x + blockIdx.x] = scale;

  for (std::int64_t row = first; row < end; row += rows_at_once) {
    const std::int64_t mine = row + threadIdx.x / lanes_each;
    float x[each];
    load(x, mine);
    if (mine >= end || column >= cast.d) continue;
    std::uint32_t words[2] = {};
#pragma unroll
    for (int i = 0; i < each / 2; ++i) {
      const std::uint32_t pair =
          __nv_cvt_float2_to_fp8x2(make_float2(x[2 * i] / scale, x[2 * i + 1] / scale), __NV_SATFINITE, __NV_E4M3);
      words[i / 2] |= pair << 16 * (i % 2);
    }
    *reinterpret_cast<uint2*>(to + mine * cast.to.row_stride + column) = make_uint2(words[0], words[1]);
  }
}

}  // namespace

void quantise(const Cast& cast) {
  if (auto sentence = why_invalid(cast)) throw std::invalid_argument(*sentence);
  if (cast.batch == 0 || cast.n == 0) return;
  int lanes_each = 1;
  while (lanes_each * each < cast.d) lanes_each *= 2;
  const dim3 grid(static_cast<unsigned>((std::int64_t{cast.n} + cast.rows - 1) / cast.rows),
                  static_cast<unsigned>(cast.heads), static_cast<unsigned>(cast.batch));
  if (cast.element == Element::fp16)
    quantise_rows<__half><<<grid, threads, 0, cast.stream>>>(cast, signs(), lanes_each);
  else
    quantise_rows<__nv_bfloat16><<<grid, threads, 0, cast.stream>>>(cast, signs(), lanes_each);
  check(cudaGetLastError(), "launching the cast to 8 bits");
}

}  // namespace fa::kernels

// The kernels before and after the main kernel of the backward pass.
#pragma once

#include "kernels/device/gradient_space.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/softmax.cuh"

namespace fa::kernels {

// Before: D = rowsum(dO ∘ O), LSE to base 2, dQ = 0.
//   HBM per row: read 2·d numbers and the LSE; write d + 2 numbers of fp32.
inline constexpr int prepare_rows = 32;  // of one block of 256 threads
template <class Config>
__global__ void __launch_bounds__(256) prepare_gradients(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  constexpr int d = Config::d, lanes = d / 8, rows_per_pass = 256 / lanes;  // lanes that share a row
  static_assert(lanes <= 32 && prepare_rows % rows_per_pass == 0);
  const GradientSpace space(args, Config::tiling.rows_q, d);
  const Problem& problem = args.problem;
  const int head = blockIdx.y, batch = blockIdx.z, chunk = threadIdx.x % lanes;
  const std::int64_t batch_head = static_cast<std::int64_t>(batch) * problem.heads + head;
  const Number* O = head_of<const Number>(args.o, batch, head) + chunk * 8;
  const Number* dO = head_of<const Number>(args.d_out, batch, head) + chunk * 8;
  __shared__ float D[prepare_rows];

#pragma unroll
  for (int pass = 0; pass < prepare_rows / rows_per_pass; ++pass) {
    const int r = pass * rows_per_pass + threadIdx.x / lanes, row = blockIdx.x * prepare_rows + r;
    float sum = 0;
    if (row < problem.n_q && chunk * 8 < problem.d) {
      const uint4 x = *reinterpret_cast<const uint4*>(O + row * args.o.row_stride);
      const uint4 y = *reinterpret_cast<const uint4*>(dO + row * args.d_out.row_stride);
      const std::uint32_t xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 a = unpack<Number>(xs[i]), b = unpack<Number>(ys[i]);
        sum += a.x * b.x + a.y * b.y;
      }
    }
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (chunk == 0) D[r] = sum;
  }
  // These rows of dQ lie in one piece, whatever the order inside (dq_index).
  const int zero_rows = min(prepare_rows, (problem.n_q + 7) / 8 * 8 - static_cast<int>(blockIdx.x) * prepare_rows);
  auto* zeros = reinterpret_cast<float4*>(space.dQ + (batch_head * space.rows + blockIdx.x * prepare_rows) * d);
  for (int i = threadIdx.x; i < zero_rows * d / 4; i += 256) zeros[i] = make_float4(0, 0, 0, 0);
  __syncthreads();  // D is whole
  const int row = blockIdx.x * prepare_rows + threadIdx.x;
  if (threadIdx.x < prepare_rows && row < space.rows) {
    // No visible key: LSE = −inf, and 2^(S − LSE) would be inf or NaN; with +inf it is 0. So too for rows past the end.
    const float lse = row < problem.n_q ? args.lse[batch_head * problem.n_q + row] : -infinity;
    space.lse2[batch_head * space.rows + row] = lse == -infinity ? infinity : lse * log2_e;
    space.D[batch_head * space.rows + row] = D[threadIdx.x];
  }
}

// After: dQ times the scale, in order and in 16 bits.
//   HBM per row: read d numbers of fp32, write d.
inline constexpr int convert_rows = 32;
template <class Config>
__global__ void __launch_bounds__(256) convert_dq(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  constexpr int d = Config::d;
  const GradientSpace space(args, Config::tiling.rows_q, d);
  const int head = blockIdx.y, batch = blockIdx.z;
  const float* dQ = space.dQ + (static_cast<std::int64_t>(batch) * args.problem.heads + head) * space.rows * d;
  Number* out = head_of<Number>(args.dq, batch, head);
  // A quad takes 16 columns of a row; one more exchange, and it writes them as a whole sector.
#pragma unroll
  for (int i = threadIdx.x; i < convert_rows * d / 4; i += 256) {
    const int t = i % 4, row = blockIdx.x * convert_rows + i / (2 * d) * 8 + i / 4 % 8,
              patch_column = i / 32 % (d / 16);
    float4 four = make_float4(0, 0, 0, 0);
    if (row < args.problem.n_q) four = reinterpret_cast<const float4*>(dQ + blockIdx.x * convert_rows * d)[i];
    const uint2 packed = quad_row(pack<Number>(four.x * args.scale, four.y * args.scale),
                                  pack<Number>(four.z * args.scale, four.w * args.scale));
    const int column = patch_column * 16 + t * 4;
    if (row < args.problem.n_q && column < args.problem.d)
      *reinterpret_cast<uint2*>(out + row * args.dq.row_stride + column) = packed;
  }
}

}  // namespace fa::kernels

// The backward pass's workspace: for each query row of each head, dQ as it grows (fp32), its LSE in base 2, and
// D = Σ dO∘O.   dP∘P − D∘P is dS: D stands for the term that softmax's normalisation adds.   [FA-2, Algorithm 2, line 4]
#pragma once

#include <cstddef>

#include "kernels/device/numbers.cuh"

namespace fa::kernels {

struct GradientSpace {
  std::int64_t rows;  // per head: n_q, up to a whole number of tiles
  float* dQ;          // [batch · heads][rows][d], its numbers in the order that `dq_index` says
  float* lse2;        // [batch · heads][rows]
  float* D;           // [batch · heads][rows]

  __host__ __device__ GradientSpace(const Args& args, int rows_q, int d)
      : rows((args.problem.n_q + rows_q - 1) / rows_q * static_cast<std::int64_t>(rows_q)) {
    const std::int64_t all_rows = static_cast<std::int64_t>(args.problem.batch) * args.problem.heads * rows;
    dQ = static_cast<float*>(args.workspace);
    lse2 = dQ + all_rows * d;
    D = lse2 + all_rows;
  }
  static std::size_t bytes(const Problem& problem, int rows_q, int d) {
    const std::int64_t rows = (problem.n_q + rows_q - 1) / rows_q * static_cast<std::int64_t>(rows_q);
    return static_cast<std::size_t>(problem.batch * rows * problem.heads) * (d + 2) * sizeof(float);
  }
};

// dQ is summed where it lies, four numbers of one row at a time: lane 4·g + t of a warp holds columns 2t, 2t+1 and
// 8+2t, 9+2t of 16, in row g of 8. They lie next to each other, and the 32 lanes' four make 512 bytes in one piece:
//
//   [row / 8][column / 16][row mod 8][t][4]
__host__ __device__ constexpr int dq_index(int row, int patch_column, int t, int d) {
  return row / 8 * (8 * d) + patch_column * 128 + row % 8 * 16 + t * 4;
}

}  // namespace fa::kernels

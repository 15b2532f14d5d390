// S = scale · Q Kᵀ in 8 bits as the tensor cores give it, and nothing else: what a check of the 8-bit kernel's LSE needs.
//
// Hopper adds the products of one wgmma to about 14 bits of the largest, so that a score is off by 1e-3 and more. No kernel
// that uses them knows better; it must not be worse.
//
//   shared   64 rows of Q, 64 of K      a warpgroup: S of the two, one wgmma for every 32 columns, then its scales, in double
#include <cuda_fp8.h>

#include "kernels/device/numbers.cuh"
#include "kernels/device/warpgroup.cuh"
#include "kernels/host/cuda.h"

namespace fa::kernels {
namespace {

using Number = __nv_fp8_e4m3;

__device__ double scale_of(const Scales& scales, std::int64_t head, int n, int row) {
  return scales.data == nullptr ? 1 : scales.data[head * ((n + scales.rows - 1) / scales.rows) + row / scales.rows];
}

// Rows of a head, zeros beyond its n rows and d columns.
template <class Tile>
__device__ void put(unsigned char* shared, const Tile& tile, const Number* rows, std::int64_t row_stride, int first,
                    int n, int d) {
  for (int i = threadIdx.x; i < Tile::rows * Tile::cols; i += warpgroup_threads) {
    const int r = i / Tile::cols, c = i % Tile::cols;
    const Number x = first + r < n && c < d ? rows[(first + r) * row_stride + c] : Number();
    *reinterpret_cast<Number*>(shared + (tile.at(r, c / 16) - smem_address(shared)) + c % 16) = x;
  }
}

// A panel is 128 columns wide.
template <int panels>
__global__ void __launch_bounds__(warpgroup_threads)
    plain_scores(const __grid_constant__ Args args, int batch, int head, double* S) {
  using Tile = PanelTile<Number, warpgroup_rows, panels * 128>;
  extern __shared__ __align__(1024) unsigned char shared[];
  const Tile Q_smem{smem_address(shared)}, K_smem{Q_smem.base + Tile::bytes};
  const Problem& p = args.problem;
  const int kv_head = head / (p.heads / p.kv_heads), row0 = blockIdx.y * Tile::rows, col0 = blockIdx.x * Tile::rows;
  put(shared, Q_smem, head_of<const Number>(args.q, batch, head), args.q.row_stride, row0, p.n_q, p.d);
  put(shared, K_smem, head_of<const Number>(args.k, batch, kv_head), args.k.row_stride, col0, p.n_kv, p.d);
  fence_async_proxy();
  __syncthreads();  // both tiles are whole, for wgmma too

  float S_reg[Tile::rows / 8][4] = {};
  const Operand A = Q_smem.by_rows(0), B = K_smem.by_rows(0);
  for (int step = 0; step < (p.d + 31) / 32; ++step) {
    wgmma_fence();
    Wgmma<Tile::rows>::template ss<Number, false>(S_reg, A.at(Tile::row_step(step)), B.at(Tile::row_step(step)), true);
    wgmma_commit();
    wgmma_wait<0>();
    pin(S_reg);
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t q_head = std::int64_t{batch} * p.heads + head, k_head = std::int64_t{batch} * p.kv_heads + kv_head;
  for (int t = 0; t < Tile::rows / 8; ++t)
    for (int e = 0; e < 4; ++e) {
      const int row = row0 + warp * 16 + lane / 4 + e / 2 * 8, col = col0 + t * 8 + lane % 4 * 2 + e % 2;
      if (row < p.n_q && col < p.n_kv)
        S[std::int64_t{row} * p.n_kv + col] = args.scale * scale_of(args.q_scales, q_head, p.n_q, row) *
                                              scale_of(args.k_scales, k_head, p.n_kv, col) * S_reg[t][e];
    }
}

}  // namespace

void tensor_core_scores(const Args& args, int batch, int head, double* S) {
  const auto tiles = [](int n) { return static_cast<unsigned>((n + warpgroup_rows - 1) / warpgroup_rows); };
  const int panels = args.problem.d <= 128 ? 1 : 2;
  const auto kernel = panels == 1 ? plain_scores<1> : plain_scores<2>;
  kernel<<<dim3(tiles(args.problem.n_kv), tiles(args.problem.n_q)), warpgroup_threads,
           2 * panels * warpgroup_rows * 128, static_cast<cudaStream_t>(args.stream)>>>(args, batch, head, S);
  check(cudaGetLastError(), "multiplying on the tensor cores");
}

}  // namespace fa::kernels

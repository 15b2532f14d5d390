// FlashAttention-1, forward: the outer loop runs over K and V, the inner one over Q; O, m and l travel.
//
//            K, V   [n_kv, d]                      one thread block per head: the heads are all there is to run at once
//           ┌─────┬─────┬─────┬──                  shared     K_j, V_j; Q_i in two stages; the warps' parts of m, l, O
//           │ j   │     │     │                    registers  S, then P, and O of the warp's keys
//  Q   ┌──┐ └─────┴─────┴─────┴──                  warps      4, split over K: each owns rows_kv / 4 keys and all 16
//      │ i│      for j: load K_j, V_j                         queries, so max, sum and O are pieced together in shared
//      ├──┤        for i: load Q_i, O_i, m_i, l_i             memory, with a barrier each time
//      │  │           S = Q_i K_jᵀ,  m̃ = rowmax S,  P = exp(S − m̃),  l̃ = rowsum P
//      ├──┤           m' = max(m, m̃),  l' = e^(m−m') l + e^(m̃−m') l̃
//                     O_i = (l e^(m−m') O_i + e^(m̃−m') P V_j) / l';  store O_i, m', l'       [FA-1, Algorithm 1]
//
//  HBM, per head, T = ⌈n_kv / rows_kv⌉: read 2·n_kv·d + T·n_q·d numbers of 16 bits and (T − 1)·n_q·(d + 2) of 32 bits;
//  write (T − 1)·n_q·(d + 2) of 32 bits, and at last n_q·d of 16 and n_q LSE. The last visit of a Q tile writes the
//  result in place of the temporaries; the first one reads none.
//  n = 4096, d = 64, rows_kv = 128: 49 MiB read and 33 MiB written.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/flash1/config.h"

namespace fa::kernels {

template <class Config>
struct Flash1Shared {
  using QTile = SmemTile<Config::tiling.rows_q, Config::d>;
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d>;  // and V's
  // O of the warps is pieced together 64 columns at a time; 8 more columns keep the rows' banks apart.
  static constexpr int part_stride = 64 + 8;
  static constexpr int V = KTile::bytes;
  static constexpr int Q = V + KTile::bytes;  // [stage]
  static constexpr int parts = Q + 2 * QTile::bytes;
  static constexpr int maxima = parts + Config::warps * Config::tiling.rows_q * part_stride * 4;
  static constexpr int sums = maxima + Config::warps * Config::tiling.rows_q * 4;
  static constexpr int old_rows = sums + Config::warps * Config::tiling.rows_q * 4;  // m, then l, as they came
  static constexpr int bytes = old_rows + 2 * Config::tiling.rows_q * 4;
};

// What travels between passes, in the workspace.
struct Flash1Space {
  float* O;  // [batch · heads][n_q][d]
  float* m;  // [batch · heads][n_q], of the scores before they are scaled
  float* l;

  __device__ __forceinline__ Flash1Space(const Args& args, int d) {
    const std::int64_t rows = static_cast<std::int64_t>(args.problem.batch) * args.problem.heads * args.problem.n_q;
    O = static_cast<float*>(args.workspace);
    m = O + rows * d;
    l = m + rows;
  }
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps) flash1_forward(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  using Shared = Flash1Shared<Config>;
  using QTile = typename Shared::QTile;
  using KTile = typename Shared::KTile;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv, warps = Config::warps;
  constexpr int threads = 32 * warps, warp_keys = rows_kv / warps;
  static_assert(rows_q == 16 && threads == 8 * rows_q, "when O is pieced together, eight threads share a row");

  extern __shared__ __align__(1024) unsigned char shared[];
  const std::uint32_t base = smem_address(shared);
  const KTile K_smem{base}, V_smem{base + Shared::V};
  auto Q_smem = [&](int stage) { return QTile{base + Shared::Q + stage * QTile::bytes}; };
  float* parts = reinterpret_cast<float*>(shared + Shared::parts);     // [warp][row][part_stride]
  float* maxima = reinterpret_cast<float*>(shared + Shared::maxima);   // [warp][row]
  float* sums = reinterpret_cast<float*>(shared + Shared::sums);       // [warp][row]
  float* m_old = reinterpret_cast<float*>(shared + Shared::old_rows);  // [row]
  float* l_old = m_old + rows_q;

  const Problem& problem = args.problem;
  const int head = blockIdx.x, batch = blockIdx.y, kv_head = head / (problem.heads / problem.kv_heads);
  const std::int64_t first_of_head = (static_cast<std::int64_t>(batch) * problem.heads + head) * problem.n_q;
  const Flash1Space space(args, d);
  const Number* Q = head_of<const Number>(args.q, batch, head);
  Number* O_out = head_of<Number>(args.o, batch, head);
  const int q_tiles = (problem.n_q + rows_q - 1) / rows_q, kv_tiles = (problem.n_kv + rows_kv - 1) / rows_kv;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float c = args.scale * log2_e;

  for (int j = 0; j < kv_tiles; ++j) {
    // The first pass visits every Q tile; later ones skip those that see none of these keys.
    int i = j == 0 ? 0 : first_query(problem, j * rows_kv) / rows_q;
    __syncthreads();  // all are done with K, V and Q of the pass before
    copy_tile<threads, false>(K_smem, head_of<const Number>(args.k, batch, kv_head), args.k.row_stride, j * rows_kv,
                              problem.n_kv, problem.d);
    copy_tile<threads, false>(V_smem, head_of<const Number>(args.v, batch, kv_head), args.v.row_stride, j * rows_kv,
                              problem.n_kv, problem.d);
    copy_tile<threads, false>(Q_smem(0), Q, args.q.row_stride, i * rows_q, problem.n_q, problem.d);
    cp_async_commit();

    for (int stage = 0; i < q_tiles; ++i, stage ^= 1) {
      cp_async_wait<0>();
      __syncthreads();  // Q_i has landed; the other stage, the maxima and the sums of the step before have been read
      if (i + 1 < q_tiles)
        copy_tile<threads, false>(Q_smem(stage ^ 1), Q, args.q.row_stride, (i + 1) * rows_q, problem.n_q, problem.d);
      cp_async_commit();
      if (threadIdx.x < rows_q) {
        const bool travelled = j > 0 && i * rows_q + threadIdx.x < problem.n_q;
        m_old[threadIdx.x] = travelled ? load_past_l1(space.m + first_of_head + i * rows_q + threadIdx.x) : -infinity;
        l_old[threadIdx.x] = travelled ? load_past_l1(space.l + first_of_head + i * rows_q + threadIdx.x) : 0.f;
      }

      // S of this warp's keys, its maximum, and the maximum over all warps.
      const int first_key = j * rows_kv + warp * warp_keys;
      float S_reg[1][warp_keys / 8][4] = {};
      multiply_transposed<Number, 0, d / 16>(S_reg, Walk<QTile, Order::rows_first>(Q_smem(stage), 0),
                                             Walk<KTile, Order::cols_first>(K_smem, warp * warp_keys));
      mask_scores(S_reg, problem, i * rows_q, first_key);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float row_max = -infinity;
#pragma unroll
        for (int t = 0; t < warp_keys / 8; ++t)
          row_max = fmaxf(row_max, fmaxf(S_reg[0][t][2 * half], S_reg[0][t][2 * half + 1]));
        row_max = quad_max(row_max);
        if (lane % 4 == 0) maxima[warp * rows_q + half * 8 + lane / 4] = row_max;
      }
      __syncthreads();  // the maxima of all warps, m and l are there
      auto tile_max = [&](int row) {
        float x = maxima[row];
        for (int w = 1; w < warps; ++w) x = fmaxf(x, maxima[w * rows_q + row]);
        return x;
      };

      // P, its sum, and this warp's part of P V.
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float row_max = tile_max(half * 8 + lane / 4);
        const float subtract = row_max == -infinity ? 0.f : row_max * c;  // −inf − (−inf) would be NaN
        float sum = 0;
#pragma unroll
        for (int t = 0; t < warp_keys / 8; ++t)
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& x = S_reg[0][t][2 * half + e];
            x = exp2_fast(x * c - subtract);
            sum += x;
          }
        sum = quad_sum(sum);
        if (lane % 4 == 0) sums[warp * rows_q + half * 8 + lane / 4] = sum;
      }
      float O_reg[1][d / 8][4] = {};
      const Walk<KTile, Order::rows_first> V_walk(V_smem, 0);
#pragma unroll
      for (int k = 0; k < warp_keys / 16; ++k) {
        std::uint32_t P_reg[1][4];
        pack_columns<Number>(P_reg, S_reg, k);
        multiply<Number>(O_reg, P_reg, V_walk, warp * warp_keys + k * 16);
      }

      // m and l with this tile, and the factors that bring the old O and the new one to them.
      struct Renewed {
        float m, l, old_factor, new_factor;
      };
      auto renew = [&](int r) {
        const float new_max = tile_max(r), m = fmaxf(m_old[r], new_max);
        const float subtract = m == -infinity ? 0.f : m * c;
        const float old_factor = exp2_fast(m_old[r] * c - subtract) * l_old[r],
                    new_factor = exp2_fast(new_max * c - subtract);
        float sum = 0;
        for (int w = 0; w < warps; ++w) sum += sums[w * rows_q + r];
        return Renewed{m, old_factor + new_factor * sum, old_factor, new_factor};
      };
      const int last_key = visible_keys(problem, min((i + 1) * rows_q, problem.n_q) - 1);
      const bool last_visit = j == max(0, (last_key + rows_kv - 1) / rows_kv - 1);

      // Together, 64 columns at a time: thread 8·row + i owns columns 4i … 4i+3 and 32+4i … of a row, so that eight
      // threads move 128 bytes at a time.
#pragma unroll
      for (int columns = 0; columns < d; columns += 64) {
        if (columns > 0) __syncthreads();  // the 64 columns before have been read
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int t = 0; t < 8; ++t)
            *reinterpret_cast<float2*>(parts + (warp * rows_q + half * 8 + lane / 4) * Shared::part_stride + t * 8 +
                                       lane % 4 * 2) =
                make_float2(O_reg[0][columns / 8 + t][2 * half], O_reg[0][columns / 8 + t][2 * half + 1]);
        __syncthreads();  // these columns, and the sums, of all warps are there
        const int r = threadIdx.x / 8, row = i * rows_q + r, column = columns + threadIdx.x % 8 * 4;
        if (row >= problem.n_q) continue;

        float* O_temporary = space.O + (first_of_head + row) * d + column;
        float O[8] = {};
        if (j > 0) {
          *reinterpret_cast<float4*>(O) = load_past_l1(reinterpret_cast<const float4*>(O_temporary));
          *reinterpret_cast<float4*>(O + 4) = load_past_l1(reinterpret_cast<const float4*>(O_temporary + 32));
        }
        const Renewed renewed = renew(r);
        // No key so far: O = 0. Keys, but all scores −inf, to the end: NaN, as in double.
        const bool is_empty = renewed.l == 0.f && !(last_visit && visible_keys(problem, row) > 0);
        const float inverse = is_empty ? 0.f : 1.f / renewed.l;
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          float sum = 0;
#pragma unroll
          for (int w = 0; w < warps; ++w)
            sum += parts[(w * rows_q + r) * Shared::part_stride + column - columns + e / 4 * 32 + e % 4];
          O[e] = (renewed.old_factor * O[e] + renewed.new_factor * sum) * inverse;
        }
        if (!last_visit) {
          *reinterpret_cast<float4*>(O_temporary) = make_float4(O[0], O[1], O[2], O[3]);
          *reinterpret_cast<float4*>(O_temporary + 32) = make_float4(O[4], O[5], O[6], O[7]);
        } else {
          Number* out = O_out + row * args.o.row_stride + column;
          if (column < problem.d)
            *reinterpret_cast<uint2*>(out) = make_uint2(pack<Number>(O[0], O[1]), pack<Number>(O[2], O[3]));
          if (column + 32 < problem.d)
            *reinterpret_cast<uint2*>(out + 32) = make_uint2(pack<Number>(O[4], O[5]), pack<Number>(O[6], O[7]));
        }
      }
      // One thread a row, so that neighbouring rows leave together.
      if (const int row = i * rows_q + threadIdx.x; threadIdx.x < rows_q && row < problem.n_q) {
        const Renewed renewed = renew(threadIdx.x);
        if (last_visit) {
          const float log_l = log2_fast(renewed.l) * ln_2;
          const float log_sum = renewed.l == 0.f ? not_a_number : renewed.m * args.scale + log_l;
          args.lse[first_of_head + row] = visible_keys(problem, row) > 0 ? log_sum : -infinity;
        } else {
          space.m[first_of_head + row] = renewed.m;
          space.l[first_of_head + row] = renewed.l;
        }
      }
    }
  }
}

template <class Config>
void launch_flash1_forward(const Args& args) {
  launch(flash1_forward<Config>, dim3(args.problem.heads, args.problem.batch), 32 * Config::warps,
         Flash1Shared<Config>::bytes, args);
}

template <class Config>
std::size_t flash1_forward_workspace(const Problem& problem) {
  return static_cast<std::size_t>(problem.heads_total()) * problem.n_q * (Config::d + 2) * sizeof(float);
}

}  // namespace fa::kernels

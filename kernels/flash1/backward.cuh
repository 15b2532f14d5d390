// FlashAttention-1, backward: one thread block per key head; K and V outside, Q, dO, O and dQ inside.
//
//            Q, dO, O, dQ  [n_q, d]                shared     K_j, V_j; Q_i, dO_i; dS; D and LSE of the rows
//           ┌──┬──┬──┬──                           registers  dK_j, dV_j; Sᵀ and dPᵀ of the step
//           │  │ i│  │  ──▶ streamed, for each j   warps      4, split over K: each owns rows_kv / 4 keys
//  K  ┌───┐ └──┴──┴──┴──
//  V  │ j │   for j: load K_j, V_j;  for i: load Q_i, dO_i, O_i, LSE_i, dQ_i
//     │   │     D = rowsum(dO ∘ O)    Sᵀ = K Qᵀ    P = exp(scale·S − LSE)    dV += Pᵀ dO
//     └───┘     dPᵀ = V dOᵀ    dS = P ∘ (dP − D)    dK += dSᵀ Q    dQ_i += dS K    store dQ_i
//                                                                                             [FA-1, Algorithm 4]
//  HBM, per head, T = ⌈n_kv / rows_kv⌉: read 2·n_kv·d + 3·T·n_q·d numbers of 16 bits and (T − 1)·n_q·d of 32 (dQ), T·n_q LSE;
//  write (T − 1)·n_q·d of 32, and at last (n_q + 2·n_kv)·d of 16.
//  n = 4096, d = 64, rows_kv = 128: 81 MiB read and 33 MiB written.
//
// No other block adds to dQ, so it needs no atomic sums: each thread reads back what it wrote itself in the pass before.
//
// Compiled for sm_75 in fp16, two or three addresses are spilled (8 to 12 bytes), once a pass and not within a step; in bf16,
// and for sm_90, nothing is.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/softmax.cuh"
#include "kernels/flash1/config.h"

namespace fa::kernels {

template <class Config>
struct Flash1BackwardShared {
  using QTile = SmemTile<Config::tiling.rows_q, Config::d>;                              // and dO's
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d>;                             // and V's
  using STile = SmemTile<Config::tiling.rows_kv, Config::tiling.rows_q, Layout::plain>;  // dSᵀ
  static constexpr int V = KTile::bytes;
  static constexpr int Q = V + KTile::bytes;
  static constexpr int dO = Q + QTile::bytes;
  static constexpr int dS = dO + QTile::bytes;
  static constexpr int rows = dS + STile::bytes;  // D, then LSE to base 2
  static constexpr int bytes = rows + 2 * Config::tiling.rows_q * 4;
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps) flash1_backward(const __grid_constant__ Args args) {
  using Number = typename Config::Number;
  using Shared = Flash1BackwardShared<Config>;
  using QTile = typename Shared::QTile;
  using KTile = typename Shared::KTile;
  using STile = typename Shared::STile;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv, warps = Config::warps;
  constexpr int threads = 32 * warps, warp_keys = rows_kv / warps, patches = warp_keys / 16;
  constexpr int tiles = d / warps / 8;  // of a warp's dQ
  static_assert(rows_q == 16 && threads == 8 * rows_q, "eight threads compute D of a row");

  extern __shared__ __align__(1024) unsigned char shared[];
  const std::uint32_t base = smem_address(shared);
  const KTile K_smem{base}, V_smem{base + Shared::V};
  const QTile Q_smem{base + Shared::Q}, dO_smem{base + Shared::dO};
  const STile dS_smem{base + Shared::dS};
  float* D_smem = reinterpret_cast<float*>(shared + Shared::rows);
  float* lse2_smem = D_smem + rows_q;

  const Problem& problem = args.problem;
  const int kv_head = blockIdx.x, batch = blockIdx.y, group = problem.heads / problem.kv_heads;
  const int q_tiles = (problem.n_q + rows_q - 1) / rows_q, kv_tiles = (problem.n_kv + rows_kv - 1) / rows_kv;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float c = args.scale * log2_e;

  for (int j = 0; j < kv_tiles; ++j) {
    const int first_key = j * rows_kv;
    __syncthreads();  // dK and dV of the pass before have left through K and V
    copy_tile<threads, false>(K_smem, head_of<const Number>(args.k, batch, kv_head), args.k.row_stride, first_key,
                              problem.n_kv, problem.d);
    copy_tile<threads, false>(V_smem, head_of<const Number>(args.v, batch, kv_head), args.v.row_stride, first_key,
                              problem.n_kv, problem.d);
    cp_async_commit();
    float dK_reg[patches][d / 8][4] = {}, dV_reg[patches][d / 8][4] = {};

    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      const std::int64_t first_of_head = (static_cast<std::int64_t>(batch) * problem.heads + head) * problem.n_q;

      // The first pass visits every Q tile; later ones skip those that see none of these keys.
      for (int i = j == 0 ? 0 : first_query(problem, first_key) / rows_q; i < q_tiles; ++i) {
        __syncthreads();  // all are done with Q, dO, dS, D and LSE of the step before
        copy_tile<threads, false>(Q_smem, head_of<const Number>(args.q, batch, head), args.q.row_stride, i * rows_q,
                                  problem.n_q, problem.d);
        copy_tile<threads, false>(dO_smem, head_of<const Number>(args.d_out, batch, head), args.d_out.row_stride,
                                  i * rows_q, problem.n_q, problem.d);
        cp_async_commit();

        // What goes to registers is asked for meanwhile, past the L1: O and LSE, and dQ as the pass before left it, on
        // which this step's product is summed. Of dQ each warp has a quarter of the columns, of D eight threads a row.
        uint4 O_reg[d / 64];
#pragma unroll
        for (int k = 0; k < d / 64; ++k) {
          const int row = i * rows_q + threadIdx.x / 8, column = k * 64 + threadIdx.x % 8 * 8;
          O_reg[k] = make_uint4(0, 0, 0, 0);
          if (row < problem.n_q && column < problem.d)
            O_reg[k] = load_past_l1(reinterpret_cast<const uint4*>(head_of<const Number>(args.o, batch, head) +
                                                                   row * args.o.row_stride + column));
        }
        float lse = -infinity;
        if (const int row = i * rows_q + threadIdx.x; threadIdx.x < rows_q && row < problem.n_q)
          lse = load_past_l1(args.lse + first_of_head + row);
        float dQ_reg[1][tiles][4] = {};
        auto travelling = [&](int half, int t) {  // in the workspace: [batch · heads][n_q][d]
          const unsigned thread = thread_index();
          const std::int64_t row = first_of_head + i * rows_q + half * 8 + thread % 32 / 4;
          return reinterpret_cast<float2*>(static_cast<float*>(args.workspace) + row * d +
                                           (thread / 32 * tiles + t) * 8 + thread % 4 * 2);
        };
#pragma unroll
        for (int half = 0; half < 2; ++half)
          if (j > 0 && i * rows_q + half * 8 + lane / 4 < problem.n_q)
#pragma unroll
            for (int t = 0; t < tiles; ++t) {
              const float2 old = load_past_l1(travelling(half, t));
              dQ_reg[0][t][2 * half] = old.x, dQ_reg[0][t][2 * half + 1] = old.y;
            }
        cp_async_wait<0>();
        __syncthreads();  // Q_i, dO_i, and K_j and V_j, have landed

        {
          const int r = threadIdx.x / 8;
          float sum = 0;
#pragma unroll
          for (int k = 0; k < d / 64; ++k) {
            const uint4 x = O_reg[k], y = load_smem_16(dO_smem.at(r, k * 8 + threadIdx.x % 8));
            const std::uint32_t xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const float2 a = unpack<Number>(xs[e]), b = unpack<Number>(ys[e]);
              sum += a.x * b.x + a.y * b.y;
            }
          }
#pragma unroll
          for (int distance = 4; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
          if (threadIdx.x % 8 == 0) D_smem[r] = sum;
        }
        // A row without a key has LSE = −inf: +inf makes its P 0.
        if (threadIdx.x < rows_q) lse2_smem[threadIdx.x] = lse == -infinity ? infinity : lse * log2_e;

        float S_reg[patches][2][4] = {}, dP_reg[patches][2][4] = {};
        multiply_transposed<Number, 0, d / 16>(S_reg, Walk<KTile, Order::rows_first>(K_smem, warp * warp_keys),
                                               Walk<QTile, Order::cols_first>(Q_smem, 0));
        multiply_transposed<Number, 0, d / 16>(dP_reg, Walk<KTile, Order::rows_first>(V_smem, warp * warp_keys),
                                               Walk<QTile, Order::cols_first>(dO_smem, 0));
        __syncthreads();  // D and LSE of all rows are there
#pragma unroll
        for (int t = 0; t < 2; ++t)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int r = t * 8 + lane % 4 * 2 + e % 2;
#pragma unroll
            for (int p = 0; p < patches; ++p) {
              S_reg[p][t][e] = exp2_fast(S_reg[p][t][e] * c - lse2_smem[r]);
              dP_reg[p][t][e] = S_reg[p][t][e] * (dP_reg[p][t][e] - D_smem[r]);
            }
          }
        if (has_edge(problem, i * rows_q, rows_q, first_key, rows_kv))
          clear_unseen(S_reg, dP_reg, problem, i * rows_q, first_key + warp * warp_keys);

        std::uint32_t P_frag[patches][4], dS_frag[patches][4];
        pack_columns<Number>(P_frag, S_reg, 0);
        pack_columns<Number>(dS_frag, dP_reg, 0);
        multiply<Number>(dV_reg, P_frag, Walk<QTile, Order::rows_first>(dO_smem, 0), 0);
        multiply<Number>(dK_reg, dS_frag, Walk<QTile, Order::rows_first>(Q_smem, 0), 0);
#pragma unroll
        for (int p = 0; p < patches; ++p)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            store_smem(StoreWalk<STile>(dS_smem, warp * warp_keys).at(p * 16 + e % 2 * 8, e / 2), dS_frag[p][e]);
        __syncthreads();  // dS of all keys is there

        const Walk<STile, Order::cols_first> dS_walk(dS_smem, 0);
        const Walk<KTile, Order::rows_first> K_walk(K_smem, 0, warp * tiles / 2);
#pragma unroll 2
        for (int k = 0; k < rows_kv / 16; ++k) {
          std::uint32_t dS_reg[1][4];
          ldmatrix_transposed(dS_reg[0], dS_walk.at(k * 16, 0));
          multiply<Number>(dQ_reg, dS_reg, K_walk, k * 16);
        }
        const int last_key = visible_keys(problem, min((i + 1) * rows_q, problem.n_q) - 1);
        const bool last_visit = j == max(0, (last_key + rows_kv - 1) / rows_kv - 1);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = i * rows_q + half * 8 + lane / 4;
          if (!last_visit) {
            if (row < problem.n_q)
#pragma unroll
              for (int t = 0; t < tiles; ++t)
                store_global_8(travelling(half, t), make_float2(dQ_reg[0][t][2 * half], dQ_reg[0][t][2 * half + 1]));
            continue;
          }
          std::uint32_t packed[tiles];
#pragma unroll
          for (int t = 0; t < tiles; ++t)
            packed[t] = pack<Number>(dQ_reg[0][t][2 * half] * args.scale, dQ_reg[0][t][2 * half + 1] * args.scale);
#pragma unroll
          for (int t = 0; t < tiles; t += 2) {
            const uint2 four = quad_row(packed[t], packed[t + 1]);
            const int column = (warp * tiles + t) * 8 + lane % 4 * 4;
            if (row < problem.n_q && column < problem.d)
              *reinterpret_cast<uint2*>(head_of<Number>(args.dq, batch, head) + row * args.dq.row_stride + column) =
                  four;
          }
        }
      }
    }
    float scale[patches][2], one[patches][2];
#pragma unroll
    for (int p = 0; p < patches; ++p) scale[p][0] = scale[p][1] = args.scale, one[p][0] = one[p][1] = 1;
    __syncthreads();  // all are out of K and V, before dK and dV take their places
    store_rows<Number>(K_smem, warp * warp_keys, 0, dK_reg, scale, head_of<Number>(args.dk, batch, kv_head),
                       args.dk.row_stride, first_key, problem.n_kv, problem.d);
    store_rows<Number>(V_smem, warp * warp_keys, 0, dV_reg, one, head_of<Number>(args.dv, batch, kv_head),
                       args.dv.row_stride, first_key, problem.n_kv, problem.d);
  }
}

template <class Config>
void launch_flash1_backward(const Args& args) {
  launch(flash1_backward<Config>, dim3(args.problem.kv_heads, args.problem.batch), 32 * Config::warps,
         Flash1BackwardShared<Config>::bytes, args);
}

template <class Config>
std::size_t flash1_backward_workspace(const Problem& problem) {
  return static_cast<std::size_t>(problem.heads_total()) * problem.n_q * Config::d * sizeof(float);
}

}  // namespace fa::kernels

// FlashAttention-2, backward: one thread block owns one tile of K and V, and its dK and dV; Q and dO stream past.
//
//            Q, dO  [n_q, d]                       shared     K_j, V_j; Q_i, dO_i in two stages; dS in two; P if partners
//           ┌─────┬─────┬─────┬──                 registers  dK_j, dV_j; Sᵀ and dPᵀ of the step
//           │     │ i   │     │  ──▶ streamed     warps      each (or each two partners) owns a slice of the keys
//  K  ┌───┐ └─────┴─────┴─────┴──
//  V  │ j │   Sᵀ = K Qᵀ       P = 2^(c·S − LSE)         dV += Pᵀ dO
//     └───┘   dPᵀ = V dOᵀ     dS = P ∘ (dP − D)         dK += dSᵀ Q        dQ_i += dS K, in HBM
//
//  HBM, numbers of 16 bits: read 2·n_kv·d + 2·n_q·d·⌈n_kv / rows_kv⌉, write 2·n_kv·d; fp32 sums to dQ: n_q·d·⌈n_kv / rows_kv⌉.
//  n = 4096, d = 128, rows_kv = 128: 66 MiB read, 2 MiB written, 64 MiB of sums per head.       [FA-2, Algorithm 2; §3.1.2]
//
// S and dP are computed transposed, as their rows then are keys: Pᵀ and dSᵀ are in registers where the products that sum
// over queries want them. Only dS goes through shared memory, since dQ sums over the keys of all warps. dQ is computed one
// step late, so that a step needs one barrier only:
//
//   barrier │ copy step i+1 ──▶ │ dQ_{i−1} += dS K │ Sᵀ, dPᵀ │ P, dS │ dV, dK │ barrier …
//           └ step i has landed; all are out of step i−1's Q and dO; dS of step i−1 is whole
//
// With partners (d > 64) two warps share a slice of keys. Each computes S and P for half of the queries, and dK and dV for
// half of the columns; they trade their halves of P and dS through shared memory. They also share a tensor core: one of
// them adds to dQ before its S, the other after its dS, so that the exponentials of each run under products of the other.
//
// The group's query heads pass one after the other through the same registers, so dK and dV are fp32 sums over the group, and
// bitwise the same in every run. dQ is not: blocks add to it in any order.
#pragma once

#include "kernels/device/gradient_space.cuh"
#include "kernels/device/launch.h"
#include "kernels/device/multiply.cuh"
#include "kernels/device/visible.cuh"
#include "kernels/flash2/backward_edges.cuh"
#include "kernels/flash2/config.h"
#include "sim/config/sections.h"

namespace fa::kernels {

template <class Config>
struct Flash2BackwardShared {
  using KTile = SmemTile<Config::tiling.rows_kv, Config::d>;              // and V's
  using QTile = SmemTile<Config::tiling.rows_q, Config::d>;               // and dO's
  using STile = SmemTile<Config::tiling.rows_kv, Config::tiling.rows_q>;  // dSᵀ and Pᵀ
  static constexpr int Q = 2 * KTile::bytes;                              // [stage] Q, dO
  static constexpr int dS = Q + 4 * QTile::bytes;                         // [stage]
  static constexpr int P = dS + 2 * STile::bytes;
  static constexpr int rows = P + (Config::partners == 2 ? STile::bytes : 0);  // [stage] LSE, D: fp32
  static constexpr int bytes = rows + 4 * Config::tiling.rows_q * 4;
};

template <class Config>
__global__ void __launch_bounds__(32 * Config::warps, Config::blocks_per_sm)
    flash2_backward(const __grid_constant__ Args args, const int log_section) {
  using Number = typename Config::Number;
  using Shared = Flash2BackwardShared<Config>;
  using KTile = typename Shared::KTile;
  using QTile = typename Shared::QTile;
  using STile = typename Shared::STile;
  constexpr int d = Config::d, rows_q = Config::tiling.rows_q, rows_kv = Config::tiling.rows_kv;
  constexpr int threads = 32 * Config::warps, partners = Config::partners, slices = Config::warps / partners;
  constexpr int warp_keys = rows_kv / slices, patches = warp_keys / 16;
  constexpr int warp_queries = rows_q / partners, warp_d = d / partners;

  extern __shared__ __align__(1024) unsigned char shared[];
  const std::uint32_t base = smem_address(shared);
  const KTile K_smem{base}, V_smem{base + KTile::bytes};
  const STile P_smem{base + Shared::P};
  auto Q_smem = [&](int stage) { return QTile{base + Shared::Q + 2 * stage * QTile::bytes}; };
  auto dO_smem = [&](int stage) { return QTile{base + Shared::Q + (2 * stage + 1) * QTile::bytes}; };
  auto dS_smem = [&](int stage) { return STile{base + Shared::dS + stage * STile::bytes}; };
  auto lse2_smem = [&](int stage) { return Shared::rows + 2 * stage * rows_q * 4; };
  auto D_smem = [&](int stage) { return Shared::rows + (2 * stage + 1) * rows_q * 4; };

  const Problem& problem = args.problem;
  const GradientSpace space(args, rows_q, d);
  const int kv_head = (blockIdx.y << log_section) + (blockIdx.x & ((1 << log_section) - 1)), batch = blockIdx.z;
  const int first_key = (blockIdx.x >> log_section) * rows_kv;
  const int group = problem.heads / problem.kv_heads;
  const int tiles = (problem.n_q + rows_q - 1) / rows_q;
  const int first_tile = first_query(problem, first_key) / rows_q;  // of Q: the tiles before it see none of these keys
  const int steps = max(0, tiles - first_tile) * group;

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int part = partners == 1 ? 0 : warp / slices, warp_key = warp % slices * warp_keys;
  const float c = args.scale * log2_e;
  float dK_reg[patches][warp_d / 8][4] = {}, dV_reg[patches][warp_d / 8][4] = {};

  auto load = [&](int head, int tile, int stage) {
    copy_tile<threads, false>(Q_smem(stage), head_of<const Number>(args.q, batch, head), args.q.row_stride,
                              tile * rows_q, problem.n_q, problem.d);
    copy_tile<threads, false>(dO_smem(stage), head_of<const Number>(args.d_out, batch, head), args.d_out.row_stride,
                              tile * rows_q, problem.n_q, problem.d);
    if (threadIdx.x < rows_q / 2) {  // LSE, then D: four numbers a thread
      const bool is_D = threadIdx.x >= rows_q / 4;
      const int row = threadIdx.x % (rows_q / 4) * 4;
      const float* source = is_D ? space.D : space.lse2;
      cp_async_16(base + (is_D ? D_smem(stage) : lse2_smem(stage)) + row * 4,
                  source + (static_cast<std::int64_t>(batch) * problem.heads + head) * space.rows + tile * rows_q + row,
                  true);
    }
    cp_async_commit();
  };

  // dQ of a step += dS K, over all keys of the block; this warp's part of the rows and columns.
  auto add_dQ = [&](int head, int tile, int stage) {
    constexpr int down = rows_q / Config::dq_down / 16, across = d / Config::dq_across / 8;
    const int patch_row = warp / Config::dq_across * down, patch_column = warp % Config::dq_across * (across / 2);
    float dQ_reg[down][across][4] = {};
    const Walk<STile, Order::cols_first> dS_walk(dS_smem(stage), 0, patch_row);
    const Walk<KTile, Order::rows_first> K_walk(K_smem, 0, patch_column);
#pragma unroll
    for (int k = 0; k < rows_kv / 16; ++k) {
      std::uint32_t dS_reg[down][4];
#pragma unroll
      for (int p = 0; p < down; ++p) ldmatrix_transposed(dS_reg[p], dS_walk.at(k * 16, p));
      multiply<Number>(dQ_reg, dS_reg, K_walk, k * 16);
    }
    float* dQ = space.dQ +
                ((static_cast<std::int64_t>(batch) * problem.heads + head) * space.rows + tile * rows_q) * d +
                dq_index(patch_row * 16 + lane / 4, patch_column, lane % 4, d);
    const int rows_left = problem.n_q - tile * rows_q - patch_row * 16 - lane / 4;
#pragma unroll
    for (int p = 0; p < down; ++p)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int n = 0; n < across / 2; ++n)
          if (p * 16 + half * 8 < rows_left)
            reduce_add_4(dQ + dq_index(p * 16 + half * 8, n, 0, d), dQ_reg[p][2 * n][2 * half],
                         dQ_reg[p][2 * n][2 * half + 1], dQ_reg[p][2 * n + 1][2 * half],
                         dQ_reg[p][2 * n + 1][2 * half + 1]);
  };

  int head = kv_head * group, tile = first_tile, old_head = 0, old_tile = 0;
  if (steps > 0) {
    copy_tile<threads, false>(K_smem, head_of<const Number>(args.k, batch, kv_head), args.k.row_stride, first_key,
                              problem.n_kv, problem.d);
    copy_tile<threads, false>(V_smem, head_of<const Number>(args.v, batch, kv_head), args.v.row_stride, first_key,
                              problem.n_kv, problem.d);
    load(head, tile, 0);
  }
  for (int step = 0; step < steps; ++step) {
    const int stage = step & 1;
    cp_async_wait<0>();
    __syncthreads();  // the three promises of the picture
    const bool last_of_head = tile + 1 == tiles;
    const int next_head = last_of_head ? head + 1 : head, next_tile = last_of_head ? first_tile : tile + 1;
    auto add_old_dQ = [&](bool now) {
      if (now && step > 0) add_dQ(old_head, old_tile, stage ^ 1);
    };
    // Before the copies if another warp of this scheduler multiplies later (NOTES.md).
    add_old_dQ(partners == 2 && part == 0);
    if (step + 1 < steps) load(next_head, next_tile, stage ^ 1);
    add_old_dQ(partners == 1);

    float S_reg[patches][warp_queries / 8][4] = {}, dP_reg[patches][warp_queries / 8][4] = {};
    multiply_transposed<Number, 0, d / 16>(S_reg, Walk<KTile, Order::rows_first>(K_smem, warp_key),
                                           Walk<QTile, Order::cols_first>(Q_smem(stage), part * warp_queries));
    multiply_transposed<Number, 0, d / 16>(dP_reg, Walk<KTile, Order::rows_first>(V_smem, warp_key),
                                           Walk<QTile, Order::cols_first>(dO_smem(stage), part * warp_queries));

    const int first_row = tile * rows_q + part * warp_queries;
    const auto* lse2 = reinterpret_cast<const float2*>(shared + lse2_smem(stage) + part * warp_queries * 4) + lane % 4;
    const auto* D = reinterpret_cast<const float2*>(shared + D_smem(stage) + part * warp_queries * 4) + lane % 4;
#pragma unroll
    for (int t = 0; t < warp_queries / 8; ++t) {
      const float2 row_lse2 = lse2[t * 4], row_D = D[t * 4];  // of the two queries of this lane's columns
#pragma unroll
      for (int p = 0; p < patches; ++p)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          S_reg[p][t][e] = exp2_fast(S_reg[p][t][e] * c - (e % 2 ? row_lse2.y : row_lse2.x));
          dP_reg[p][t][e] = S_reg[p][t][e] * (dP_reg[p][t][e] - (e % 2 ? row_D.y : row_D.x));
        }
    }
    if (has_edge(problem, tile * rows_q, rows_q, first_key, rows_kv))
      clear_unseen(S_reg, dP_reg, problem, first_row, first_key + warp_key);

    // To 16 bits; dS to shared memory for everyone's dQ, P for the partner.
    std::uint32_t P_frag[warp_queries / 16][patches][4], dS_frag[warp_queries / 16][patches][4];
    const STile dS_tile = dS_smem(stage);
    const StoreWalk<STile> dS_store(dS_tile, warp_key, part * (warp_queries / 8));
    const StoreWalk<STile> P_store(P_smem, warp_key, part * (warp_queries / 8));
#pragma unroll
    for (int k = 0; k < warp_queries / 16; ++k) {
      pack_columns<Number>(P_frag[k], S_reg, k);
      pack_columns<Number>(dS_frag[k], dP_reg, k);
#pragma unroll
      for (int p = 0; p < patches; ++p)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          store_smem(dS_store.at(p * 16 + e % 2 * 8, 2 * k + e / 2), dS_frag[k][p][e]);
          if constexpr (partners == 2) store_smem(P_store.at(p * 16 + e % 2 * 8, 2 * k + e / 2), P_frag[k][p][e]);
        }
    }

    add_old_dQ(partners == 2 && part == 1);

    const Walk<QTile, Order::rows_first> dO_walk(dO_smem(stage), 0, part * (warp_d / 16));
    const Walk<QTile, Order::rows_first> Q_walk(Q_smem(stage), 0, part * (warp_d / 16));
#pragma unroll
    for (int k = 0; k < warp_queries / 16; ++k)
      multiply<Number>(dV_reg, P_frag[k], dO_walk, part * warp_queries + k * 16);
#pragma unroll
    for (int k = 0; k < warp_queries / 16; ++k)
      multiply<Number>(dK_reg, dS_frag[k], Q_walk, part * warp_queries + k * 16);
    if constexpr (partners == 2) {
      barrier_sync(1 + warp % slices, 64);  // the partner's halves of P and dS are written
      const int other = (1 - part) * warp_queries;
      const Walk<STile, Order::rows_first> P_walk(P_smem, warp_key, other / 16), dS_walk(dS_tile, warp_key, other / 16);
#pragma unroll
      for (int k = 0; k < warp_queries / 16; ++k) {
#pragma unroll
        for (int p = 0; p < patches; ++p) ldmatrix(P_frag[k][p], P_walk.at(p * 16, k));
        multiply<Number>(dV_reg, P_frag[k], dO_walk, other + k * 16);
      }
#pragma unroll
      for (int k = 0; k < warp_queries / 16; ++k) {
#pragma unroll
        for (int p = 0; p < patches; ++p) ldmatrix(dS_frag[k][p], dS_walk.at(p * 16, k));
        multiply<Number>(dK_reg, dS_frag[k], Q_walk, other + k * 16);
      }
    }
    old_head = head, old_tile = tile;
    head = next_head, tile = next_tile;
  }
  if (steps > 0) {
    __syncthreads();  // the last dS is whole
    add_dQ(old_head, old_tile, (steps - 1) & 1);
    __syncthreads();  // all are out of K, before dK takes its place
  }

  // S lacks the scale, so dK does too.
  float scale[patches][2], one[patches][2];
#pragma unroll
  for (int p = 0; p < patches; ++p) scale[p][0] = scale[p][1] = args.scale, one[p][0] = one[p][1] = 1;
  store_rows<Number>(K_smem, warp_key, part * (warp_d / 8), dK_reg, scale, head_of<Number>(args.dk, batch, kv_head),
                     args.dk.row_stride, first_key, problem.n_kv, problem.d);
  store_rows<Number>(V_smem, warp_key, part * (warp_d / 8), dV_reg, one, head_of<Number>(args.dv, batch, kv_head),
                     args.dv.row_stride, first_key, problem.n_kv, problem.d);
}

template <class Config>
void launch_flash2_backward(const Args& args) {
  const Problem& problem = args.problem;
  const auto blocks = [](int n, int rows) { return (n + rows - 1) / rows; };
  const int padded_rows = blocks(problem.n_q, Config::tiling.rows_q) * Config::tiling.rows_q;
  launch(prepare_gradients<Config>, dim3(padded_rows / prepare_rows, problem.heads, problem.batch), 256, 0, args);
  const int log_section = fa::log_section(Config::tiling, problem);
  launch(
      flash2_backward<Config>,
      dim3(blocks(problem.n_kv, Config::tiling.rows_kv) << log_section, problem.kv_heads >> log_section, problem.batch),
      32 * Config::warps, Flash2BackwardShared<Config>::bytes, args, log_section);
  launch(convert_dq<Config>, dim3(blocks(problem.n_q, convert_rows), problem.heads, problem.batch), 256, 0, args);
}

template <class Config>
std::size_t flash2_backward_workspace(const Problem& problem) {
  return GradientSpace::bytes(problem, Config::tiling.rows_q, Config::d);
}

}  // namespace fa::kernels

#pragma once
// How the warps of a thread block share a tile that lies in their registers, and with it the product that makes it.
//
//   C = A B      down 2, across 2        a warp multiplies its rows of A with its columns of B, so all of A leaves
//                ┌───┬───┐               SRAM `across` times, and all of B `down` times.
//            A ▶ │ 0 │ 1 │
//                ├───┼───┤               copies: so many warps (or grids of them) hold all of C, each a sum over its
//                │ 2 │ 3 │               own part of what is summed over; they add up in the end, through SRAM.
//                └───┴───┘
//                  B ▼

namespace fa {

struct WarpGrid {
  int down = 1;    // parts of the rows
  int across = 1;  // parts of the columns
  int copies = 1;
  int each = 1;  // warps to a part: 4 where a whole warpgroup multiplies at once (wgmma)

  friend constexpr bool operator==(const WarpGrid&, const WarpGrid&) = default;
  constexpr int warps() const { return down * across * copies * each; }

  // C of a product whose A is shared like this, each warp taking its own part of what is summed over.
  constexpr WarpGrid summed_over_columns() const { return {down, 1, across * copies, each}; }
  constexpr WarpGrid transposed() const { return {across, down, copies, each}; }
};

// Those of a fused backward.
struct BackwardWarps {
  WarpGrid S;   // and P, dP, dS: queries × keys
  WarpGrid dK;  // and dV: keys × d
  WarpGrid dQ;  // queries × d

  friend constexpr bool operator==(const BackwardWarps&, const BackwardWarps&) = default;
};

}  // namespace fa

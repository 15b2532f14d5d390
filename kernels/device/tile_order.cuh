// The order in which blocks that stay on their SMs (persistent blocks) take tiles of Q.
//
// Without a mask all tiles cost the same: block b takes b, b + blocks, …, head after head. Under a causal mask they do not;
// the longest go first, so that the short ones fill the gaps at the end, and a block takes the next one when it is free.
// To keep what is read at one time within L2, heads come in sections: the tiles of a few heads are mixed, then the next few.
// A head's last tile may have fewer rows than the others, and so take less time: without a mask, those come last of all.
#pragma once

#include "kernels/attention.h"
#include "kernels/device/launch.h"

namespace fa::kernels {

struct TileOrder {
  struct Tile {
    int first_row, batch, head;
    __device__ __forceinline__ bool exists() const { return first_row >= 0; }
  };
  static constexpr Tile none() { return {-1, 0, 0}; }

  int rows_q;
  int row_tiles;  // tiles of Q in a head; without a mask, those that have all their rows
  int heads, batches;
  int heads_at_once;  // of all batches: one section
  int short_tiles;    // that come last, one for each head, or 0
  unsigned* taken;    // global memory: how many tiles were taken beyond the first of each block; null: none counts

  __host__ __device__ __forceinline__ int tiles() const { return row_tiles * heads * batches + short_tiles; }

  __device__ __forceinline__ Tile at(int index) const {
    if (const int head = index - row_tiles * heads * batches; head >= 0)
      return {row_tiles * rows_q, head / heads, head % heads};
    const int section_tiles = heads_at_once * row_tiles;
    const int section = index / section_tiles, place = index % section_tiles;
    const int first_head = section * heads_at_once, heads_here = min(heads_at_once, heads * batches - first_head);
    const int head = first_head + place % heads_here, down = place / heads_here;
    return {(taken != nullptr ? row_tiles - 1 - down : down) * rows_q, head / heads, head % heads};
  }

  // The tile after `index` for this block; by one thread.
  __device__ __forceinline__ int next(int index) const {
    return gridDim.x + (taken != nullptr ? atomicAdd(taken, 1u) : index);
  }
};

// Bytes of workspace for the count of tiles taken, which a masked launch keeps.
inline std::size_t tile_order_workspace(const Problem& problem) { return problem.causal ? 256 : 0; }

// Enqueues the reset of the count before the kernel.
inline TileOrder tile_order(const Args& args, int rows_q) {
  const Problem& problem = args.problem;
  unsigned* taken = nullptr;
  if (problem.causal) {
    taken = static_cast<unsigned*>(args.workspace);
    check(cudaMemsetAsync(taken, 0, sizeof *taken, args.stream), "resetting the tile counter");
  }
  // K and V of the heads of a section fit half of an H200's L2, which its two partitions hold twice.
  constexpr std::int64_t section_bytes = std::int64_t{32} << 20;
  const int batches = static_cast<int>(problem.batch), heads = static_cast<int>(problem.heads);
  int heads_at_once = 1;
  if (taken != nullptr) {
    const std::int64_t head_bytes = 2 * std::int64_t{problem.n_kv} * problem.d * size_of(problem.element);
    while (heads_at_once * 2 * head_bytes <= section_bytes && heads_at_once < batches * heads) heads_at_once *= 2;
    heads_at_once *= heads / static_cast<int>(problem.kv_heads);
  }
  const int n_q = static_cast<int>(problem.n_q);
  const bool short_last = taken == nullptr && n_q % rows_q != 0;
  return {rows_q,        short_last ? n_q / rows_q : (n_q + rows_q - 1) / rows_q,
          heads,         batches,
          heads_at_once, short_last ? heads * batches : 0,
          taken};
}

}  // namespace fa::kernels

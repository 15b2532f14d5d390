#pragma once
// Every number of the time model that is not a datasheet's: few, physical, each with what it was fitted on.
//
// Fitted on the cycles of the official FlashAttention-3 forward at d 128 on an H200, causal and not, n 512 to 16384
// (8 rows, measured with cold caches on 2026-11-29), and on the FA-3 paper's ablation (2 ratios). Held out: its rows at
// d 64 and d 256 (16) and in 8 bits (3). The constants never saw those; the shape of the model did: which pipes
// share a unit was chosen with all 27 rows in view.

namespace fa::time {

// ---- Fitted ----
constexpr double tensor_efficiency = 0.92;  // of the tensor cores' peak, while products are queued
constexpr double turn_cycles = 120;       // ping-pong: from the end of one warpgroup's products to the next one's first
constexpr double copy_latency = 1200;     // of a TMA load under load, beyond the memory's own: issue, queues, barrier
constexpr double store_latency = 1600;    // until a TMA store has read its SRAM and the place is free
constexpr double tile_end_cycles = 1600;  // the end of a tile of work: block barrier, LSE, next tile's coordinates
constexpr double launch_cycles = 6000;    // until the first block runs, and after the last is done
constexpr double dram_efficiency = 0.60;  // of the datasheet's bandwidth, reads and writes mixed, at the highest clock

// ---- From elsewhere ----
// Two warpgroups that come to the tensor cores at the same instant share them almost evenly, so that after a while one
// is ahead; any number a little above one half gives the same cycles.
constexpr double first_share = 0.51;
// mma.sync on Hopper reaches this part of the peak that wgmma has (FA-2's speed against FA-3's; memory_model.md 6.2).
constexpr double mma_sync_efficiency = 0.62;

}  // namespace fa::time

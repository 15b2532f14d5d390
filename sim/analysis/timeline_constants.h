#pragma once
// Every number of the time model that is not a datasheet's: few, physical, each with what it was fitted on.

namespace fa::time {

// ---- Warpgroups with roles: wgmma and TMA ----
// Fitted on the cycles of the official FlashAttention-3 forward at d 128 on an H200, causal and not, n 512 to 16384
// (8 rows, measured with cold caches on 2026-11-29), and on the FA-3 paper's ablation (2 ratios). Held out: its rows at
// d 64 and d 256 (16) and in 8 bits (3). The constants never saw those; the shape of the model did: which pipes
// share a unit was chosen with all 27 rows in view.
constexpr double tensor_efficiency = 0.92;  // of the tensor cores' peak, while products are queued
constexpr double turn_cycles = 120;       // ping-pong: from the end of one warpgroup's products to the next one's first
constexpr double copy_latency = 1200;     // of a TMA load under load, beyond the memory's own: issue, queues, barrier
constexpr double store_latency = 1600;    // until a TMA store has read its SRAM and the place is free
constexpr double tile_end_cycles = 1600;  // the end of a tile of work: block barrier, LSE, next tile's coordinates
constexpr double launch_cycles = 6000;    // until the first block runs, and after the last is done
constexpr double dram_efficiency = 0.60;  // of the datasheet's bandwidth, reads and writes mixed, at the highest clock
// Two warpgroups that come to the tensor cores at the same instant share them almost evenly, so that after a while one
// is ahead; any number a little above one half gives the same cycles.
constexpr double first_share = 0.51;

// ---- Warps that all do the same: mma.sync, cp.async ----
// Our own naive, flash1 and flash2, forward and backward, as recorded on an H200 on 2026-11-29. Two steps. First the
// instructions, on sm__inst_executed of every other row, each kernel for itself. Then, with those fixed, the cycles, on
// sm__cycles_active.avg of every other row: all kernels together with n ≤ 1024, corrected with n ≤ 4096, then rounded. The rows
// left out came out as well as those fitted. load_latency is a compromise chosen by hand, with all flash1 rows in view.

// Cycles of a scheduler, read off a loop of nothing else (kernels/flash2/NOTES.md), not fitted.
constexpr double mma_sync_efficiency = 0.65;  // of the peak that wgmma has, at best: 6.2 cycles for an mma
constexpr double mma_alone = 1.10;            // a warp alone takes so much longer than its share of the tensor core
constexpr double mma_pair = 1.03;             // and two warps that work in step

// Instructions.
constexpr double ldmatrix_instructions = 1.94;  // itself, and what its address takes
constexpr double ldmatrix_instructions_full =
    3.7;  // in a fused backward, whose registers are full: addresses are made again
constexpr double product_instructions = 18.5;  // of a warp, for each product of tiles: loops, barriers, bounds
constexpr double row_instructions = 13.8;   // of softmax, for each row of a warp and tile: shuffles, comparison, factor
constexpr double copy_instructions = 1.08;  // for 16 bytes a lane
constexpr double block_instructions = 940;  // of a warp: the fused kernels' beginning and end
constexpr double block_instructions_unfused = 154;  // and of a product of naive
constexpr double softmax_instructions = 21.8;       // naive's softmax: for 32 numbers of a row
constexpr double gradient_instructions = 35;        // its gradient: for 32 numbers
constexpr double empty_instructions = 14.4;         // for 32 places that a shorter row leaves empty
constexpr double reduction_instructions = 75;       // of each warp and row: the sums over the block

// Cycles.
constexpr double issue_cycles = 1.25;        // of the tensor core's time that any other instruction takes
constexpr double issue_alone = 1.3;          // a warp alone takes so much longer than its share of issue slots
constexpr double issue_pair = 1.1;           // and two in step
constexpr double product_latency = 8;        // from the last instruction of a step to the next one's first: products
constexpr double vector_latency = 8;         // element-wise work
constexpr double row_latency = 160;          // exchanges within a row
constexpr double barrier_latency = 35;       // steps that other warps wait for
constexpr double load_latency = 400;         // of a load, beyond the memory's own: queues, barrier
constexpr double row_kernel_latency = 1900;  // naive's softmax: three barriers of all warps a row
constexpr double block_start = 450;          // until a block's first instruction
constexpr double prologue = 2000;  // of the fused kernels, until the first load: tables of addresses, cold instructions
constexpr double launch_start = 1000;  // the first wave of a launch starts cold
constexpr double block_offset =
    1500;  // blocks of one SM are out of step; any number above 400 gives nearly the same cycles
constexpr double sram_efficiency = 0.92;  // of the SRAM's 128 bytes a cycle
constexpr double reduce_bytes = 35;       // a cycle, that reductions to HBM move through the port of SRAM and L1
constexpr double l2_efficiency = 0.485;   // of what the ports of all SMs to L2 could take together
constexpr double dram_per_cycle =
    0.85;  // of the datasheet's bandwidth, in cycles of the highest clock; the clock was 8 % below it
constexpr double blend = 3.9;  // of two limits that work at once, as the exponent of a power mean

}  // namespace fa::time

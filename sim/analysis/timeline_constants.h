#pragma once
// Every number of the time model that is not a datasheet's: few, physical, each with what it was fitted on.

namespace fa::time {

// ---- Warpgroups with roles: wgmma and TMA ----
// Fitted on the cycles of the official FlashAttention-3 forward on an H200 (27 rows, elapsed), on the FA-3 paper's ablation (2
// ratios) and on 52 rows of our own flash3 (active cycles), all measured with cold caches on 2026-11-29 and all in view. A fit of
// every other row gives constants within 15 % of these, its own rows a mean error of 2.1 % and the others 2.5 %.

// What a wgmma instruction takes longer while others of the SM execute vector work, whose operands come from the same
// registers: 12.7 cycles in a loop of nothing else (kernels/flash3/NOTES.md).
constexpr double wgmma_beside_vector = 13;
constexpr double copy_latency = 1350;      // of a TMA load under load, beyond the memory's own: issue, queues, barrier
constexpr double store_latency = 1450;     // until a TMA store has read its SRAM and the place is free
constexpr double tile_end_cycles = 2200;   // the end of a tile of work: LSE, O, the next tile's coordinates
constexpr double persistent_start = 2100;  // until the first copy: barriers, tensor maps, cold instructions
constexpr double dram_efficiency = 0.60;   // of the datasheet's bandwidth, reads and writes mixed, at the highest clock
// Two warpgroups that come to the tensor cores at the same instant share them almost evenly, so that after a while one
// is ahead; any number a little above one half gives the same cycles.
constexpr double first_share = 0.51;

// Our flash3 in 8 bits (kernels/flash3/NOTES_FP8.md). One is fitted, on every other of 15 rows recorded before those in assets,
// with warm instruction caches; the others were measured in a loop of nothing else, or by a profile of the kernel.
constexpr double softmax_pace = 0.71;  // of the exponential unit's rate: what one warpgroup alone reaches
// While products run, which use the same registers' ports: the fitted one. A loop of nothing else has 0.2 instructions per
// cycle then (kernels/flash3/NOTES.md), which for the 240 of a softmax would make it 0.43.
constexpr double softmax_pace_beside = 0.40;
constexpr double handover = 136;       // from a warpgroup's step to its next, by barrier or vote: mean of nine phases
constexpr double sector_store = 2;     // for 32 bytes of O from registers: both consumers' 2048 took 4200 (d 256)
constexpr double raise_latency = 670;  // of a first maximum (800 at d 256), beyond its comparisons

constexpr double launch_cycles = 1000;  // of every launch, before its first block begins and after its last is done

// ---- Warps that all do the same: mma.sync, cp.async ----
// Our own naive, flash1 and flash2, forward and backward, as recorded on an H200 on 2026-11-29. First the instructions: read off
// the machine code for naive, for the others fitted on sm__inst_executed of every other row. Then the cycles, with those fixed, on
// sm__cycles_active.avg of every other row with n ≤ 4096 (or 16 heads at 8192), then rounded. Constants of one kernel alone were
// fitted with all its rows in view, and so was the shape of the model. No row above n = 16 384 was seen by any fit.

// Cycles of a scheduler, read off a loop of nothing else (kernels/flash2/NOTES.md).
constexpr double mma_sync_efficiency = 0.65;  // of the peak that wgmma has, at best: 6.2 cycles for an mma

// Instructions of the fused kernels.
constexpr double ldmatrix_instructions = 1.94;      // itself, and what its address takes
constexpr double ldmatrix_instructions_full = 2.9;  // in a backward, whose registers are full: addresses are made again
constexpr double product_instructions = 18.5;       // of a warp, for each product of tiles: loops, barriers, bounds
constexpr double row_instructions = 13.8;   // of softmax, for each row of a warp and tile: shuffles, comparison, factor
constexpr double copy_instructions = 1.08;  // for 16 bytes a lane
constexpr double block_instructions = 940;  // of a warp: beginning and end
constexpr double block_instructions_backward = 1540;  // of a warp, for each of the two tiles that leave in the end
constexpr double merge_instructions = 140;            // of a warp, for 64 columns of flash1's O: factors, old O, bounds
constexpr double travel_instructions = 8.8;           // for 8 bytes a lane of flash1's dQ, with their address and bound

// Instructions of naive, counted in its machine code (sm_90a).
constexpr double product_instructions_naive =
    84;  // of a warp, for 64 numbers of a product's sum: copies and their bounds
constexpr double block_instructions_naive = 490;  // of a warp: beginning and end of a product
constexpr double softmax_instructions = 14.4;     // for 32 places of a row, whether a number is there or not
constexpr double gradient_instructions = 16;      // of its gradient
constexpr double softmax_alu = 8.1;               // of these, for the ALU, which takes one every other cycle
constexpr double gradient_alu = 10.4;
constexpr double softmax_in_pieces = 0.68;     // a row in pieces passes twice: so much of that in each pass
constexpr double gradient_in_pieces = 1.4;     // and in both together
constexpr double reduction_instructions = 40;  // of each warp and row, for each sum over the block

// Cycles.
constexpr double issue_cycles = 1.32;  // of the tensor core's time that any other instruction takes
constexpr double row_issue = 1.28;     // of a scheduler, where nothing is multiplied: instructions wait for each other
constexpr double mma_alone = 1.05;     // a warp alone takes so much longer than its share of the tensor core
constexpr double issue_alone = 1.35;   // and of issue slots
// From the last instruction of a step to the next one's first.
constexpr double product_latency = 25;        // products
constexpr double product_latency_alone = 50;  // flash1, with one warp to a scheduler: nothing hides it
constexpr double row_latency = 180;           // exchanges within a row
constexpr double row_latency_block = 560;     // flash1, where all warps share each row: three barriers
constexpr double barrier_latency = 25;        // steps that other warps wait for
constexpr double load_latency = 350;          // of a load to SRAM, beyond the memory's own: queues, barrier
constexpr double miss_latency = 1.3;          // of what DRAM takes longer than L2 on an idle GPU
constexpr double block_start = 450;           // until a block's first instruction
constexpr double prologue = 600;  // of the fused kernels, until the first load: tables of addresses, cold instructions
constexpr double launch_start = 1600;  // the first wave of a launch starts cold
constexpr double masked_start = 1900;  // and where a mask cuts tiles, so does the second copy of the loop, which masks
constexpr double block_offset =
    1500;  // blocks of one SM are out of step; any number above 400 gives nearly the same cycles
constexpr double sram_efficiency = 0.905;  // of the SRAM's 128 bytes a cycle
constexpr double l2_reduce_bytes = 1165;   // a cycle, that L2 adds up, for all SMs together
constexpr double l2_efficiency = 0.448;    // of what the ports of all SMs to L2 could take together
constexpr double dram_per_cycle = 1.01;  // of the datasheet's bandwidth, in cycles of the highest clock; the clock was
                                         // 8 % below it, so this is 93 % in bytes a second
constexpr double blend =
    4.3;  // DRAM and all else work at once, neither quite without the other: a power mean's exponent

}  // namespace fa::time

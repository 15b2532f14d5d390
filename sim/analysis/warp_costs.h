#pragma once
// What an event costs warps that all do the same and multiply with mma.sync (naive, flash1, flash2): instructions.
//
// A warp's instructions leave through its scheduler one by one, whatever unit they are for, so beside the tensor cores the
// issue slots are what a tile takes, then the exponential pipes and the SRAM's port. What a tile needs of each follows from
// its numbers and from how a block's warps share them.

#include "sim/analysis/costs.h"
#include "sim/analysis/sram.h"

namespace fa {

// One kernel does all (flash1, flash2), with long beginnings and few registers to spare; else each product has its own.
bool is_fused(const Run& run);

class WarpCosts {
 public:
  // `warps`: that share an event. `sms`: how many SMs are at work at once.
  WarpCosts(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, int warps, double sms);

  // `visit`: how many tiles of keys the accumulators have met, this one included.
  Cost of(const Event& event, int visit) const;

  double instructions(const Event& event, int visit) const;  // of all warps
  double issue_cycles(const Event& event) const;             // of the schedulers, for all warps
  double dram_cycles(const Event& event) const { return memory_.dram_cycles(event); }

  // naive's softmax and its gradient: all warps of a block share a row, which is padded to what the kernel is compiled for.
  bool row_by_row() const { return row_by_row_; }
  // Of such a row, the sums over its block: of the softmax the maximum and the sum, of its gradient D.
  int sums_of_a_row() const { return run_.pass == Pass::forward ? 2 : 1; }

 private:
  struct Work {
    double mma = 0;      // instructions
    double other = 0;    // instructions
    double special = 0;  // instructions of the exponential pipes
    double alu = 0;      // of `other`, those of the ALU, which takes one every other cycle
    double sram_cycles = 0;
  };
  Work work_of(const Event& event, int visit) const;
  Work of_a_row(const Event& event) const;
  Cost cost(Unit unit, const Work& work, double latency) const;
  bool travels(BufferId buffer) const;  // an accumulator that goes and comes between passes, 8 bytes a lane at a time
  double chance_of_rescale(const Event& event, int visit) const;
  const BufferInfo& info(BufferId buffer) const { return launch_.buffers[static_cast<std::size_t>(buffer)]; }
  double numbers(BufferId buffer) const { return static_cast<double>(info(buffer).shape.count()); }

  const Run& run_;
  const Launch& launch_;
  SramPort port_;
  int warps_;
  double sms_;
  bool fused_;
  double mma_flops_;   // of one instruction
  double mma_cycles_;  // of a scheduler
  MemoryRates memory_;
  bool row_by_row_ = false;
};

}  // namespace fa

#pragma once
// One SM with the blocks that it has: the events of a record, as tasks on lanes, and what comes of them.

#include <vector>

#include "sim/analysis/schedule.h"
#include "sim/analysis/timeline.h"
#include "sim/analysis/warp_costs.h"

namespace fa {

class Sm {
 public:
  // `sms`: how many are at work at once.
  Sm(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, double sms);

  // Blocks one after the other, as the program of a persistent one.
  Timeline in_turn(const std::vector<std::size_t>& kinds) const;

  // So many blocks of a kind side by side, each begun so many cycles after the one before. Each has a lane for every group of warps that has rows of its own. Tiles are
  // copied one ahead of their use, as kernels with two stages do, though the program names one place for them.
  Timeline side_by_side(std::size_t kind, int count, double apart = 0) const;

  int groups() const { return groups_; }

  // Blocks that an SM has at a time.
  int resident() const;

  // Kernels of warps without roles that multiply nothing read, compute and write: how long so many blocks of an SM take for
  // it, side by side.
  struct Stream {
    double cycles = 0;
    std::array<double, unit_count> busy{};
  };
  Stream stream(std::size_t kind, int resident) const;

  // Of a block: cycles of the SM's share of DRAM.
  double dram_cycles(std::size_t kind) const;

  // Does a kind of block, of a kernel with a loop of its own for tiles that a mask cuts, meet such tiles?
  bool masks(std::size_t kind) const;

  bool streams() const { return launch_.lanes.empty() && launch_.counts.flops == Flops(0); }

 private:
  int group_of(const Event& event) const;
  std::span<const Event> events_of(std::size_t kind) const;
  std::vector<Cost> costs_of(std::span<const Event> events, const std::vector<int>& group) const;
  bool copies_ahead() const {
    return launch_.counts.flops > Flops(0) && !(run_.program == "flash1" && run_.pass == Pass::backward);
  }
  bool partners() const;
  void wait_for_tile(const Event& load, Cost& cost) const;
  void finish(Timeline& timeline, const std::vector<Task>& tasks, const Waits& waits,
              const std::vector<double>& begins) const;

  const Run& run_;
  const Launch& launch_;
  int groups_;
  RoleCosts role_costs_;
  WarpCosts warp_costs_;
};

}  // namespace fa

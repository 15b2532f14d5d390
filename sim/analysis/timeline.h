#pragma once
// Time, modelled: how long a run takes on its GPU, and what every lane of an SM does when.
//
// A run recorded with Detail::kinds says what each kind of block does and in what order blocks are handed out. One SM's
// blocks are simulated event by event (schedule.h); blocks of one kind take the same time, so each kind is simulated
// once. All SMs then take blocks in launch order, each the next when it is free: the last to finish ends the kernel.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/cache.h"
#include "sim/analysis/costs.h"
#include "sim/analysis/hazards.h"
#include "sim/record/run.h"

namespace fa {

// One event on an SM. Times in cycles, from the SM's first event.
struct Interval {
  std::int64_t event = 0;  // into Timeline::events
  Unit unit = Unit::vector;
  double begin = 0, end = 0;  // while the unit serves it
};

// A time in which nothing of a lane is served, and why.
struct Gap {
  enum class Reason : signed char {
    data,     // a tile or a result that the next event reads is not there
    place,    // the buffer that it writes is still in use
    turn,     // ping-pong
    barrier,  // the block's other lanes
    unit,     // the unit serves another lane
    latency,  // its own result is on the way
    done,     // nothing is left to do
  };
  int lane = 0;
  double begin = 0, end = 0;
  Reason reason = Reason::done;
  BufferId buffer = no_buffer;  // of data and place
  std::int64_t event = -1;      // what was waited for, of data, place, turn, barrier
};
std::string_view name_of(Gap::Reason reason);

// The events of one SM, one block after the other or several side by side.
struct Timeline {
  std::vector<std::string> lanes;
  std::vector<Event> events;
  std::vector<Interval> intervals;        // by event
  std::vector<Gap> gaps;                  // by lane, then time
  std::vector<double> lane_until;         // by lane: when its last result is there
  double cycles = 0;                      // until the last result is there
  std::array<double, unit_count> busy{};  // cycles in which a unit serves somebody

  double lane_busy(int lane) const;  // cycles of a lane without a gap
};

struct LaunchTime {
  std::string name;
  double cycles = 0;
  double active = 0;                      // mean over the SMs: while it has a block
  int resident = 1;                       // blocks side by side on an SM
  double waves = 0;                       // blocks for each place where one can run
  double balance = 1;                     // mean load of the SMs over the largest
  std::vector<double> kind_cycles;        // what a block of each kind takes
  std::array<double, unit_count> busy{};  // of all SMs' cycles, the part in which the unit is used
};

struct RunTime {
  std::vector<LaunchTime> launches;

  double cycles() const {
    double sum = 0;
    for (const LaunchTime& launch : launches) sum += launch.cycles;
    return sum;
  }
  double active() const {
    double sum = 0;
    for (const LaunchTime& launch : launches) sum += launch.active;
    return sum;
  }
};

// Both need a run of Detail::kinds. `dram`: of this run, if it is known already.
RunTime model_time(const Run& run, const DramTraffic* dram = nullptr);

// The SM that finishes last: its first blocks of one launch, at most so many.
Timeline timeline(const Run& run, const LaunchTime& time, std::size_t launch, std::int64_t most_blocks);

}  // namespace fa

#include "sim/analysis/timeline.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <queue>

#include "sim/analysis/schedule.h"
#include "sim/analysis/timeline_constants.h"

namespace fa {

std::string_view name_of(Gap::Reason reason) {
  constexpr std::array<std::string_view, 7> names{"data", "place", "turn", "barrier", "unit", "latency", "done"};
  return names[static_cast<std::size_t>(reason)];
}

double Timeline::lane_busy(int lane) const {
  double served = cycles;
  for (const Gap& gap : gaps)
    if (gap.lane == lane) served -= gap.end - gap.begin;
  return served;
}

namespace {

// Kinds that are simulated one by one; where there are more, the rest lie between two by their number of events.
constexpr std::size_t most_kinds = 24;

std::span<const Event> events_of(const Run& run, const Launch& launch, std::size_t kind) {
  return std::span(run.events)
      .subspan(static_cast<std::size_t>(launch.kinds[kind].first_event),
               static_cast<std::size_t>(launch.kinds[kind].events));
}

// Blocks that fit an SM together.
int resident_blocks(const Launch& launch, const Hardware& hardware) {
  if (launch.persistent) return 1;
  constexpr Bytes reserved(1024);  // of SRAM, for each block (CUDA programming guide)
  constexpr std::int64_t most = 32;
  Bytes registers;
  for (const BufferInfo& info : launch.buffers)
    if (info.level == Level::registers) registers += info.bytes;
  std::int64_t fit = std::min(most, hardware.sram_per_sm.count() / (launch.sram_peak + reserved).count());
  if (registers > Bytes(0)) fit = std::min(fit, hardware.registers_per_sm.count() / registers.count());
  return static_cast<int>(std::max<std::int64_t>(1, fit));
}

// Blocks on one SM: `in_turn` one after the other, as one program; or side by side, each with lanes of its own.
class Sm {
 public:
  Sm(const Run& run, const Launch& launch) : run_(run), launch_(launch), costs_(run, launch) {}

  Timeline in_turn(const std::vector<std::size_t>& kinds) const {
    Timeline t;
    t.lanes = launch_.lanes.empty() ? std::vector<std::string>{"block"} : launch_.lanes;
    add(t, kinds);
    std::vector<Task> tasks;
    for (const Event& event : t.events) tasks.push_back({event.lane, costs_.of(event)});
    finish(t, tasks, waits(launch_, t.events));
    return t;
  }

  Timeline side_by_side(std::size_t kind, int count) const {
    Timeline t;
    std::vector<Task> tasks;
    Waits all;
    const std::span<const Event> events = events_of(run_, launch_, kind);
    const Waits one = waits(launch_, events);
    for (int copy = 0; copy < count; ++copy) {
      const auto first = static_cast<std::int32_t>(t.events.size());
      t.lanes.push_back("block " + std::to_string(copy + 1));
      for (std::size_t k = 0; k < events.size(); ++k) {
        t.events.push_back(events[k]);
        t.events.back().lane = copy;
        tasks.push_back({copy, costs_.of(events[k])});
        for (Wait wait : one.of(k)) wait.event += first, all.add(wait);
        all.close();
      }
    }
    finish(t, tasks, all);
    return t;
  }

 private:
  void add(Timeline& t, const std::vector<std::size_t>& kinds) const {
    std::int64_t block = 0;
    for (std::size_t kind : kinds) {
      for (Event event : events_of(run_, launch_, kind)) {
        event.block = block;
        t.events.push_back(event);
      }
      ++block;
    }
  }

  void finish(Timeline& t, const std::vector<Task>& tasks, const Waits& waits) const {
    const std::vector<Served> served = schedule(tasks, waits);
    std::array<std::vector<std::pair<double, double>>, unit_count> spans;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      t.intervals.push_back({static_cast<std::int64_t>(k), tasks[k].cost.unit, served[k].begin, served[k].end});
      t.cycles = std::max(t.cycles, served[k].seen);
      if (served[k].end > served[k].begin)
        spans[static_cast<std::size_t>(index_of(tasks[k].cost.unit))].emplace_back(served[k].begin, served[k].end);
    }
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      std::sort(spans[unit].begin(), spans[unit].end());
      double covered = 0;
      for (const auto& [begin, end] : spans[unit]) {
        t.busy[unit] += std::max(0.0, end - std::max(begin, covered));
        covered = std::max(covered, end);
      }
    }
    for (std::size_t lane = 0; lane < t.lanes.size(); ++lane) add_gaps(t, static_cast<int>(lane), served, waits);
  }

  // Between what is served of a lane, the next event says what it waited for.
  static void add_gaps(Timeline& t, int lane, const std::vector<Served>& served, const Waits& waits) {
    std::vector<std::size_t> mine;
    for (std::size_t k = 0; k < t.events.size(); ++k)
      if (t.events[k].lane == lane && served[k].end > served[k].begin) mine.push_back(k);
    std::sort(mine.begin(), mine.end(),
              [&](std::size_t a, std::size_t b) { return served[a].begin < served[b].begin; });
    double until = 0;
    for (std::size_t k : mine) {
      if (served[k].begin > until + 1e-6) t.gaps.push_back(gap(t, lane, until, k, served, waits));
      until = std::max(until, served[k].end);
    }
    if (t.cycles > until + 1e-6) t.gaps.push_back({lane, until, t.cycles, Gap::Reason::done, no_buffer, -1});
  }

  static Gap gap(const Timeline& t, int lane, double begin, std::size_t k, const std::vector<Served>& served,
                 const Waits& waits) {
    Gap gap{lane, begin, served[k].begin, Gap::Reason::latency, no_buffer, -1};
    if (served[k].issued + 1e-6 < served[k].begin) {
      gap.reason = Gap::Reason::unit;
      return gap;
    }
    // The event itself, or one before it on the lane that takes no time: a turn, a barrier, a start.
    std::size_t held = k;
    while (served[held].cause < 0) {
      std::size_t before = held;
      while (before > 0 && t.events[before - 1].lane != lane) --before;
      if (before == 0 || served[before - 1].end > served[before - 1].begin || served[before - 1].issued < begin)
        return gap;
      held = before - 1;
    }
    const Wait& wait = waits.of(held)[static_cast<std::size_t>(served[held].cause)];
    const auto first = static_cast<std::size_t>(wait.event);
    if (served[first].end <= begin && t.events[first].lane == lane) return gap;  // done, but not yet seen
    gap.buffer = wait.buffer;
    gap.event = wait.event;
    switch (wait.why) {
      case Why::read_after_write: gap.reason = Gap::Reason::data; break;
      case Why::write_after_read:
      case Why::write_after_write: gap.reason = Gap::Reason::place; break;
      case Why::turn: gap.reason = Gap::Reason::turn; break;
      case Why::barrier: gap.reason = Gap::Reason::barrier; break;
    }
    return gap;
  }

  const Run& run_;
  const Launch& launch_;
  Costs costs_;
};

// What a block of one kind takes when an SM has many of them to do, and what the first takes longer.
struct Pace {
  double cycles = 0, start = 0;
  std::array<double, unit_count> busy{};
};

Pace pace_of(const Sm& sm, std::size_t kind, int resident, bool persistent) {
  Pace pace;
  if (persistent) {
    const Timeline one = sm.in_turn({kind}), three = sm.in_turn({kind, kind, kind});
    pace.cycles = (three.cycles - one.cycles) / 2;
    pace.start = std::max(0.0, one.cycles - pace.cycles);
    for (std::size_t unit = 0; unit < unit_count; ++unit) pace.busy[unit] = one.busy[unit];
  } else {
    const Timeline all = sm.side_by_side(kind, resident);
    pace.cycles = all.cycles;
    for (std::size_t unit = 0; unit < unit_count; ++unit) pace.busy[unit] = all.busy[unit] / resident;
  }
  return pace;
}

std::vector<Pace> paces(const Sm& sm, const Launch& launch, int resident) {
  std::vector<std::size_t> by_size(launch.kinds.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::sort(by_size.begin(), by_size.end(),
            [&](std::size_t a, std::size_t b) { return launch.kinds[a].events < launch.kinds[b].events; });
  const std::size_t simulated = std::min(by_size.size(), most_kinds);
  std::vector<Pace> result(by_size.size());
  std::size_t known = 0;
  for (std::size_t s = 0; s < simulated; ++s) {
    const std::size_t at = simulated < 2 ? 0 : s * (by_size.size() - 1) / (simulated - 1);
    const Pace pace = result[by_size[at]] = pace_of(sm, by_size[at], resident, launch.persistent);
    const Pace& before = result[by_size[known]];
    const auto few = static_cast<double>(launch.kinds[by_size[known]].events),
               many = static_cast<double>(launch.kinds[by_size[at]].events);
    for (std::size_t between = known + 1; between < at; ++between) {
      const auto size = static_cast<double>(launch.kinds[by_size[between]].events);
      const double part = many > few ? (size - few) / (many - few) : 0;
      Pace& guess = result[by_size[between]];
      guess.cycles = before.cycles + part * (pace.cycles - before.cycles);
      guess.start = before.start + part * (pace.start - before.start);
      for (std::size_t unit = 0; unit < unit_count; ++unit)
        guess.busy[unit] = before.busy[unit] + part * (pace.busy[unit] - before.busy[unit]);
    }
    known = at;
  }
  return result;
}

// Hands out blocks in order, each to the place that is free first. Returns when each place is done; `took` hears who
// takes what.
template <class Took>
std::vector<double> hand_out(const Launch& launch, const std::vector<double>& kind_cycles, std::size_t places,
                             Took took) {
  std::vector<double> done(places, 0.0);
  using Free = std::pair<double, std::size_t>;
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (std::size_t place = 0; place < places; ++place) free.emplace(0.0, place);
  for (std::int32_t kind : launch.kind_of) {
    const auto [time, place] = free.top();
    free.pop();
    done[place] = time + kind_cycles[static_cast<std::size_t>(kind)];
    free.emplace(done[place], place);
    took(place, static_cast<std::size_t>(kind));
  }
  return done;
}

}  // namespace

RunTime model_time(const Run& run) {
  RunTime result;
  for (const Launch& launch : run.launches) {
    LaunchTime time;
    time.name = launch.name;
    time.resident = resident_blocks(launch, run.hardware);
    const auto places = static_cast<std::size_t>(run.hardware.sms) * static_cast<std::size_t>(time.resident);
    const std::vector<Pace> pace = paces(Sm(run, launch), launch, time.resident);
    for (const Pace& kind : pace) time.kind_cycles.push_back(kind.cycles);
    double start = 0;
    std::array<double, unit_count> busy{};
    const std::vector<double> done = hand_out(launch, time.kind_cycles, places, [&](std::size_t, std::size_t kind) {
      start = std::max(start, pace[kind].start);
      for (std::size_t unit = 0; unit < unit_count; ++unit) busy[unit] += pace[kind].busy[unit];
    });
    const double last = *std::max_element(done.begin(), done.end());
    time.cycles = last + start + time::launch_cycles;
    time.waves = static_cast<double>(launch.blocks) / static_cast<double>(places);
    if (last > 0) time.balance = std::accumulate(done.begin(), done.end(), 0.0) / static_cast<double>(places) / last;
    for (std::size_t unit = 0; unit < unit_count; ++unit) time.busy[unit] = busy[unit] / run.hardware.sms / time.cycles;
    result.launches.push_back(std::move(time));
  }
  return result;
}

Timeline timeline(const Run& run, const LaunchTime& time, std::size_t index, std::int64_t most_blocks) {
  const Launch& launch = run.launches[index];
  const Sm sm(run, launch);
  if (launch.kind_of.empty()) return {};
  if (!launch.persistent) return sm.side_by_side(static_cast<std::size_t>(launch.kind_of.front()), time.resident);
  std::vector<std::vector<std::size_t>> taken(static_cast<std::size_t>(run.hardware.sms));
  const std::vector<double> done = hand_out(launch, time.kind_cycles, taken.size(),
                                            [&](std::size_t place, std::size_t kind) { taken[place].push_back(kind); });
  std::vector<std::size_t>& last =
      taken[static_cast<std::size_t>(std::max_element(done.begin(), done.end()) - done.begin())];
  if (static_cast<std::int64_t>(last.size()) > most_blocks) last.resize(static_cast<std::size_t>(most_blocks));
  return sm.in_turn(last);
}

}  // namespace fa

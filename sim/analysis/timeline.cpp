#include "sim/analysis/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "sim/analysis/residency.h"
#include "sim/analysis/sm.h"
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

// What a block of one kind takes.
struct Pace {
  double cycles = 0;  // while the SM is full of its like
  double alone = 0;   // on an SM of its own
  double start = 0;   // what the first takes longer
  std::array<double, unit_count> busy{};
};

// Two things go on at once, neither quite without the other.
double both(double a, double b) {
  return std::pow(std::pow(a, time::blend) + std::pow(b, time::blend), 1 / time::blend);
}

Pace pace_of(const Sm& sm, std::size_t kind, int resident, bool persistent) {
  Pace pace;
  if (persistent) {
    const Timeline one = sm.in_turn({kind}), three = sm.in_turn({kind, kind, kind});
    pace.cycles = pace.alone = (three.cycles - one.cycles) / 2;
    pace.start = std::max(0.0, one.cycles - pace.cycles);
    pace.busy = one.busy;
    return pace;
  }
  if (sm.streams()) {
    const Sm::Stream stream = sm.stream(kind, resident);
    pace.cycles = both(std::max(stream.cycles, stream.busy[0] * resident), sm.dram_cycles(kind) * resident);
    pace.alone = sm.stream(kind, 1).cycles;
    pace.busy = stream.busy;
    return pace;
  }
  if (sm.masks(kind)) pace.start = time::masked_start;
  pace.alone = sm.side_by_side(kind, 1).cycles;
  // Blocks that run for long are not in step.
  const double apart = resident > 1 ? std::min<double>(time::block_offset, pace.alone / (2 * resident)) : 0;
  const Timeline all = sm.side_by_side(kind, resident, apart);
  double sum = 0;
  for (std::size_t lane = 0; lane < all.lane_until.size(); ++lane)
    sum += all.lane_until[lane] - apart * static_cast<double>(static_cast<int>(lane) / sm.groups());
  pace.cycles = both(sum / static_cast<double>(all.lane_until.size()), sm.dram_cycles(kind) * resident);
  for (std::size_t unit = 0; unit < unit_count; ++unit) pace.busy[unit] = all.busy[unit] / resident;
  return pace;
}

Pace between(const Pace& a, const Pace& b, double part) {
  const auto mix = [part](double x, double y) { return x + part * (y - x); };
  Pace pace{mix(a.cycles, b.cycles), mix(a.alone, b.alone), mix(a.start, b.start)};
  for (std::size_t unit = 0; unit < unit_count; ++unit) pace.busy[unit] = mix(a.busy[unit], b.busy[unit]);
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
    result[by_size[at]] = pace_of(sm, by_size[at], resident, launch.persistent);
    const auto events = [&](std::size_t i) { return static_cast<double>(launch.kinds[by_size[i]].events); };
    for (std::size_t i = known + 1; i < at; ++i)
      result[by_size[i]] =
          between(result[by_size[known]], result[by_size[at]],
                  events(at) > events(known) ? (events(i) - events(known)) / (events(at) - events(known)) : 0);
    known = at;
  }
  return result;
}

// When each SM is done, if they take blocks in launch order. `took` hears who takes what.
template <class Took>
std::vector<double> hand_out(const Launch& launch, const std::vector<Pace>& pace, std::size_t sms, int resident,
                             Took took) {
  // The blocks that an SM has: what is left of each, as a part of it.
  struct Load {
    double now = 0, next = 0;
    std::vector<std::pair<double, std::size_t>> blocks;  // left, kind
    std::int64_t version = 0;
  };
  std::vector<Load> loads(sms);
  const auto rate = [&](const Load& load, std::size_t kind) {
    const double crowd = resident > 1 ? static_cast<double>(load.blocks.size() - 1) / (resident - 1) : 1;
    return 1 / (pace[kind].alone + crowd * (pace[kind].cycles - pace[kind].alone));
  };
  const auto advance = [&](Load& load, double to) {
    for (auto& [left, kind] : load.blocks) left -= (to - load.now) * rate(load, kind);
    load.now = to;
  };
  const auto plan = [&](Load& load) {
    load.next = std::numeric_limits<double>::infinity();
    for (const auto& [left, kind] : load.blocks) load.next = std::min(load.next, load.now + left / rate(load, kind));
    ++load.version;
  };
  // Whoever is done first takes the next; at the start, one each before anybody has two.
  using Done = std::tuple<double, std::size_t, std::int64_t>;
  std::priority_queue<Done, std::vector<Done>, std::greater<>> done;
  std::size_t given = 0;
  const std::size_t blocks = launch.kind_of.size();
  const auto give = [&](std::size_t sm) {
    const auto kind = static_cast<std::size_t>(launch.kind_of[given++]);
    loads[sm].blocks.emplace_back(1.0, kind);
    took(sm, kind);
  };
  for (int place = 0; place < resident; ++place)
    for (std::size_t sm = 0; sm < sms && given < blocks; ++sm) give(sm);
  std::vector<double> ends(sms, 0.0);
  const auto push = [&](std::size_t sm) {
    plan(loads[sm]);
    if (!loads[sm].blocks.empty()) done.emplace(loads[sm].next, sm, loads[sm].version);
  };
  for (std::size_t sm = 0; sm < sms; ++sm) push(sm);
  while (!done.empty()) {
    const auto [time, sm, version] = done.top();
    done.pop();
    Load& load = loads[sm];
    advance(load, time);
    const auto over =
        std::remove_if(load.blocks.begin(), load.blocks.end(), [](const auto& block) { return block.first <= 1e-9; });
    const auto ended = load.blocks.end() - over;
    load.blocks.erase(over, load.blocks.end());
    ends[sm] = time;
    for (auto k = ended; k > 0 && given < blocks; --k) give(sm);
    push(sm);
  }
  return ends;
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Sm sm_of(const Run& run, std::size_t launch, const DramTraffic* dram) {
  return Sm(run, run.launches[launch], dram ? &dram->launches[launch] : nullptr,
            static_cast<double>(
                std::min<std::int64_t>(run.hardware.sms, std::max<std::int64_t>(1, run.launches[launch].blocks))));
}

}  // namespace

RunTime model_time(const Run& run, const DramTraffic* known) {
  require_rates(run.hardware, run.problem.element);
  std::optional<DramTraffic> found;
  if (!known) found = dram_traffic(run);
  const DramTraffic* dram = known ? known : found ? &*found : nullptr;
  RunTime result;
  for (std::size_t index = 0; index < run.launches.size(); ++index) {
    const Launch& launch = run.launches[index];
    LaunchTime time;
    time.name = launch.name;
    const Sm sm = sm_of(run, index, dram);
    time.resident = sm.resident();
    const auto sms = static_cast<std::size_t>(run.hardware.sms);
    const auto places = sms * static_cast<std::size_t>(time.resident);
    const std::vector<Pace> pace = paces(sm, launch, time.resident);
    for (const Pace& kind : pace) time.kind_cycles.push_back(kind.cycles);
    double start = 0;
    std::array<double, unit_count> busy{};
    std::vector<double> done = hand_out(launch, pace, sms, time.resident, [&](std::size_t, std::size_t kind) {
      start = std::max(start, pace[kind].start);
      for (std::size_t unit = 0; unit < unit_count; ++unit) busy[unit] += pace[kind].busy[unit];
    });
    const double last = *std::max_element(done.begin(), done.end());
    start += launch.persistent ? time::persistent_start : time::launch_start;
    for (double& each : done)
      if (each > 0) each += start;
    time.cycles = last + start + time::launch_cycles;
    time.active = mean(done);
    time.waves = static_cast<double>(launch.blocks) / static_cast<double>(places);
    if (last > 0) time.balance = time.active / *std::max_element(done.begin(), done.end());
    for (std::size_t unit = 0; unit < unit_count; ++unit)
      time.busy[unit] = std::min(1.0, busy[unit] / run.hardware.sms / time.cycles);
    result.launches.push_back(std::move(time));
  }
  return result;
}

Timeline timeline(const Run& run, const LaunchTime& time, std::size_t index, std::int64_t most_blocks) {
  const Launch& launch = run.launches[index];
  const std::optional<DramTraffic> dram = dram_traffic(run);
  const Sm sm = sm_of(run, index, dram ? &*dram : nullptr);
  if (launch.kind_of.empty()) return {};
  if (!launch.persistent) return sm.side_by_side(static_cast<std::size_t>(launch.kind_of.front()), time.resident);
  std::vector<Pace> pace;
  for (double cycles : time.kind_cycles) pace.push_back({cycles, cycles});
  std::vector<std::vector<std::size_t>> taken(static_cast<std::size_t>(run.hardware.sms));
  const std::vector<double> done = hand_out(launch, pace, taken.size(), 1,
                                            [&](std::size_t place, std::size_t kind) { taken[place].push_back(kind); });
  std::vector<std::size_t>& last =
      taken[static_cast<std::size_t>(std::max_element(done.begin(), done.end()) - done.begin())];
  if (static_cast<std::int64_t>(last.size()) > most_blocks) last.resize(static_cast<std::size_t>(most_blocks));
  return sm.in_turn(last);
}

}  // namespace fa

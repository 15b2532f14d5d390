#include "sim/analysis/sm.h"

#include <algorithm>
#include <map>

#include "sim/analysis/residency.h"
#include "sim/analysis/timeline_constants.h"

namespace fa {
namespace {

constexpr int small_block = 256;  // threads of a kernel that only reads, computes and writes

Gap gap(const Timeline& t, int lane, double begin, std::size_t k, const std::vector<Served>& served,
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

// Between what is served of a lane, the next event says what it waited for.
void add_gaps(Timeline& t, int lane, const std::vector<Served>& served, const Waits& waits) {
  std::vector<std::size_t> mine;
  for (std::size_t k = 0; k < t.events.size(); ++k)
    if (t.events[k].lane == lane && served[k].end > served[k].begin) mine.push_back(k);
  std::sort(mine.begin(), mine.end(), [&](std::size_t a, std::size_t b) { return served[a].begin < served[b].begin; });
  double until = 0;
  for (std::size_t k : mine) {
    if (served[k].begin > until + 1e-6) t.gaps.push_back(gap(t, lane, until, k, served, waits));
    until = std::max(until, served[k].end);
  }
  if (t.cycles > until + 1e-6) t.gaps.push_back({lane, until, t.cycles, Gap::Reason::done, no_buffer, -1});
}

}  // namespace

Sm::Sm(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, double sms)
    : run_(run),
      launch_(launch),
      groups_(groups_of(launch)),
      role_costs_(run, launch, dram, sms),
      warp_costs_(run, launch, dram, warps_of_group(launch), sms) {}

std::span<const Event> Sm::events_of(std::size_t kind) const {
  return std::span(run_.events)
      .subspan(static_cast<std::size_t>(launch_.kinds[kind].first_event),
               static_cast<std::size_t>(launch_.kinds[kind].events));
}

int Sm::group_of(const Event& event) const {
  const BufferId buffer = event.to != no_buffer ? event.to : event.from[0];
  return groups_ == 1 || buffer == no_buffer ? 0 : fa::group_of(launch_, buffer);
}

Timeline Sm::in_turn(const std::vector<std::size_t>& kinds) const {
  Timeline t;
  t.lanes = launch_.lanes;
  std::int64_t block = 0;
  for (std::size_t kind : kinds) {
    for (Event event : events_of(kind)) {
      event.block = block;
      t.events.push_back(event);
    }
    ++block;
  }
  std::vector<Task> tasks;
  // Our kernel has warps of their own that turn V around: its loader does not wait for them.
  const int transposers = static_cast<int>(t.lanes.size());
  for (const Event& event : t.events)
    tasks.push_back(
        {event.op == Op::transpose && run_.tiling.lazy_factor ? transposers : event.lane, role_costs_.of(event)});
  finish(t, tasks, waits(launch_, t.events), {});
  return t;
}

// flash1's forward copies a Q tile ahead, but waits for what travels: for m and l, and for O, 64 columns at a time. (At d 128
// the compiler waits for m and for l apart.) Its backward asks for all that a step reads at once.
void Sm::wait_for_tile(const Event& load, Cost& cost) const {
  const BufferInfo& to = launch_.buffers[static_cast<std::size_t>(load.to)];
  if (run_.pass == Pass::backward || to.level == Level::sram || to.name == "l") return;
  cost.asynchronous = false;
  cost.latency *= static_cast<double>(ceil_div(run_.tiling.width(run_.problem.d), 64));
}

// flash2's backward gives partners a scheduler, one of which adds to dQ when the other does not: the exponentials of each run
// under products of the other.
bool Sm::partners() const {
  return run_.program == "flash2" && run_.pass == Pass::backward &&
         run_.tiling.flash2_backward_warps(run_.tiling.width(run_.problem.d)).S.down > 1;
}

// Between two products, a compiler mixes the instructions of the steps: exponentials run under the rest.
std::vector<Cost> Sm::costs_of(std::span<const Event> events, const std::vector<int>& group) const {
  const bool in_turns = partners();
  std::vector<Cost> costs;
  std::vector<int> visits(static_cast<std::size_t>(groups_), 0);
  for (std::size_t k = 0; k < events.size(); ++k) {
    int& visit = visits[static_cast<std::size_t>(group[k])];
    if (events[k].op == Op::running_max) ++visit;
    costs.push_back(warp_costs_.of(events[k], visit));
    if (events[k].op == Op::load && run_.program == "flash1") wait_for_tile(events[k], costs.back());
  }
  for (int p = 0; p < groups_; ++p) {
    std::vector<std::size_t> stretch;
    for (std::size_t k = 0; k <= events.size(); ++k) {
      if (k < events.size() && group[k] != p) continue;
      if (k < events.size() && events[k].op != Op::matmul) {
        if (costs[k].unit == Unit::vector && costs[k].needs.issue > 0) stretch.push_back(k);
        continue;
      }
      double issue = 0, mufu = 0, own = 0;
      for (std::size_t i : stretch) issue += costs[i].needs.issue, mufu += costs[i].needs.mufu, own += costs[i].own;
      for (std::size_t i : stretch) {
        costs[i].needs.mufu = mufu * costs[i].needs.issue / issue;
        costs[i].cycles = std::max(costs[i].own * (in_turns ? 1 : std::max(1.0, mufu / own)), costs[i].needs.sram);
      }
      stretch.clear();
    }
  }
  return costs;
}

Timeline Sm::side_by_side(std::size_t kind, int count, double apart) const {
  const std::span<const Event> events = events_of(kind);
  const Waits one = waits(launch_, events);
  std::vector<int> group;
  for (const Event& event : events) group.push_back(group_of(event));
  const std::vector<Cost> costs = costs_of(events, group);
  const auto info = [&](BufferId buffer) -> const BufferInfo& {
    return launch_.buffers[static_cast<std::size_t>(buffer)];
  };

  Timeline t;
  std::vector<Task> tasks;
  std::vector<double> begins;
  Waits all;
  const int lanes = count * groups_;
  for (int copy = 0; copy < count; ++copy) {
    for (int p = 0; p < groups_; ++p) {
      t.lanes.push_back("block " + std::to_string(copy + 1) + (groups_ > 1 ? ", group " + std::to_string(p + 1) : ""));
      begins.push_back(time::block_start + (is_fused(run_) ? time::prologue : 0) + copy * apart);
    }
    const auto first = static_cast<std::int32_t>(t.events.size());
    std::map<BufferId, std::vector<Wait>> stage_before;
    std::map<BufferId, std::int32_t> last_copy;
    std::vector<std::int32_t> last_first(static_cast<std::size_t>(groups_), -1);
    for (std::size_t k = 0; k < events.size(); ++k) {
      const Event& event = events[k];
      t.events.push_back(event);
      t.events.back().lane = copy * groups_ + group[k];
      // All is copied ahead of its use but what travels, which this block, or one before it, has written.
      const bool ahead = copies_ahead() && event.op == Op::load && !info(event.to).fill;
      tasks.push_back({ahead ? lanes + copy : t.events.back().lane, costs[k]});
      // A copy may begin when the place of the one before the last is free: two stages.
      std::vector<Wait> mine(one.of(k).begin(), one.of(k).end());
      if (ahead) {
        std::swap(mine, stage_before[event.to]);
        // It is given out once the one before it has landed.
        const auto [landed, none] = last_copy.emplace(event.to, -1);
        if (landed->second >= 0) mine.push_back({landed->second, event.to, Why::write_after_write});
        landed->second = static_cast<std::int32_t>(k);
      }
      // Ping-pong: the groups' first products of a tile come one after the other.
      if (groups_ > 1 && event.op == Op::matmul && !info(event.to).fill) {
        const auto at = static_cast<std::size_t>(group[k]);
        const std::int32_t turn = last_first[at > 0 ? at - 1 : last_first.size() - 1];
        if (turn >= 0) mine.push_back({turn, no_buffer, Why::turn});
        last_first[at] = static_cast<std::int32_t>(k);
      }
      for (Wait wait : mine) wait.event += first, all.add(wait);
      all.close();
    }
  }
  for (int copy = 0; copy < count; ++copy) begins.push_back(begins[static_cast<std::size_t>(copy * groups_)]);
  finish(t, tasks, all, begins);
  return t;
}

double Sm::dram_cycles(std::size_t kind) const {
  double cycles = 0;
  for (const Event& event : events_of(kind)) cycles += warp_costs_.dram_cycles(event);
  return cycles;
}

bool Sm::masks(std::size_t kind) const {
  const std::span<const Event> events = events_of(kind);
  return is_fused(run_) && std::any_of(events.begin(), events.end(), [](const Event& e) { return e.op == Op::mask; });
}

int Sm::resident() const {
  return streams() && !warp_costs_.row_by_row() ? 2048 / small_block : blocks_per_sm(run_, launch_);
}

Sm::Stream Sm::stream(std::size_t kind, int resident) const {
  Stream s;
  double port = 0, issue = 0, latency = 0, steps = 1;
  Tensor first =
      Tensor::none;  // that is loaded: what comes with it arrives with it, but its next piece is waited for again
  for (const Event& event : events_of(kind)) {
    const Cost cost = warp_costs_.of(event, 1);
    s.busy[static_cast<std::size_t>(index_of(cost.unit))] += cost.cycles;
    if (event.op == Op::load && first == Tensor::none) first = event.tensor;
    issue += warp_costs_.issue_cycles(event) * time::row_issue;
    if (event.op == Op::load) {
      latency = event.tensor == first ? latency + cost.latency : std::max(latency, cost.latency);
      port += static_cast<double>(event.hbm.count()) / run_.hardware.l2_bytes_per_clk;
    }
    if (warp_costs_.row_by_row()) steps = std::max<double>(steps, event.rows.size());
  }
  s.busy[static_cast<std::size_t>(index_of(Unit::vector))] = issue;
  // Either the blocks together keep a unit busy, or each goes at its own pace.
  const double step = std::max(resident * std::max(issue, port) / steps, (issue + port) / steps + latency);
  s.cycles = steps * step;
  return s;
}

void Sm::finish(Timeline& t, const std::vector<Task>& tasks, const Waits& waits,
                const std::vector<double>& begins) const {
  const std::vector<Served> served = schedule(tasks, waits, !launch_.lanes.empty(), begins);
  t.lane_until.assign(t.lanes.size(), 0.0);
  std::array<std::vector<std::pair<double, double>>, unit_count> spans;
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    t.intervals.push_back({static_cast<std::int64_t>(k), tasks[k].cost.unit, served[k].begin, served[k].end});
    t.cycles = std::max(t.cycles, served[k].seen);
    double& until = t.lane_until[static_cast<std::size_t>(t.events[k].lane)];
    until = std::max(until, served[k].seen);
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

}  // namespace fa

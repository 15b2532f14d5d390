#include "sim/cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/cli/table.h"

namespace fa::cli {
namespace {

constexpr std::int64_t shown_blocks = 4;  // of one SM: enough for every gap to show

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

// "turn 9.1 %, data K stage 0 1.2 %": a lane's gaps by reason, the longest first.
std::string gaps_of(const Timeline& t, const Launch& launch, int lane) {
  std::map<std::string, double> cycles;
  for (const Gap& gap : t.gaps) {
    if (gap.lane != lane) continue;
    std::string reason(name_of(gap.reason));
    if (gap.buffer != no_buffer) reason += " " + describe(launch, gap.buffer);
    cycles[reason] += gap.end - gap.begin;
  }
  std::vector<std::pair<double, std::string>> longest;
  for (const auto& [reason, sum] : cycles) longest.emplace_back(sum, reason);
  std::sort(longest.rbegin(), longest.rend());
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(longest.size(), 4); ++k)
    text += fmt::format("{}{} {}", k == 0 ? "" : ", ", longest[k].second, percent(longest[k].first / t.cycles));
  return text;
}

}  // namespace

Run run_of_kinds(const Specification& spec, const Chosen& chosen) {
  return fa::run(*chosen.program, spec.problem, chosen.tiling, spec.hardware,
                 {.detail = Detail::kinds, .pass = spec.pass});
}

void print_time(const Run& run, const RunTime& time) {
  Table launches(
      {"time (modelled)", "cycles", "blocks per SM", "waves", "balance", "copy", "tensor", "vector", "store"});
  for (const LaunchTime& launch : time.launches)
    launches.add({launch.name, with_separators(static_cast<std::int64_t>(launch.cycles)),
                  std::to_string(launch.resident), fmt::format("{:.2f}", launch.waves), percent(launch.balance),
                  percent(launch.busy[0]), percent(launch.busy[1]), percent(launch.busy[2]), percent(launch.busy[3])});
  const double milliseconds = time.cycles() / run.hardware.boost_clock_ghz * 1e-6;
  launches.add({"total", with_separators(static_cast<std::int64_t>(time.cycles())), "", "", "", "", "", "", ""});
  fmt::print("\n{}{:.3f} ms at {:.2f} GHz, the highest clock: {:.0f} TFLOP/s of whole tiles\n", launches.text(),
             milliseconds, run.hardware.boost_clock_ghz,
             static_cast<double>(run.counts().flops.count()) / milliseconds * 1e-9);

  for (std::size_t k = 0; k < run.launches.size(); ++k) {
    const Timeline t = timeline(run, time.launches[k], k, shown_blocks);
    Table lanes({fmt::format("{}: lanes of one SM (modelled)", run.launches[k].name), "busy", "waits for"});
    for (std::size_t lane = 0; lane < t.lanes.size(); ++lane)
      lanes.add({t.lanes[lane], percent(t.lane_busy(static_cast<int>(lane)) / t.cycles),
                 gaps_of(t, run.launches[k], static_cast<int>(lane))});
    fmt::print("\n{}", lanes.text());
  }
}

std::string perfetto_of(const Run& run, std::int64_t blocks) {
  const RunTime time = model_time(run);
  std::vector<NamedTimeline> timelines;
  for (std::size_t k = 0; k < run.launches.size(); ++k)
    timelines.push_back({run.launches[k].name, &run.launches[k], timeline(run, time.launches[k], k, blocks)});
  return to_perfetto(timelines, run.hardware);
}

}  // namespace fa::cli

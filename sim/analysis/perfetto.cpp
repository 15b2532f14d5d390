#include "sim/analysis/perfetto.h"

#include <fmt/format.h>

#include <set>

namespace fa {
namespace {

constexpr int tracks_of_lane = unit_count + 1;  // the last is for its gaps

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += ' ';
    else
      result += c;
  }
  return result + "\"";
}

std::string name_of(const Launch& launch, const Event& event) {
  std::string name(fa::name_of(event.op));
  if (event.tensor != Tensor::none) return name + " " + std::string(fa::name_of(event.tensor));
  if (event.to != no_buffer) name += " " + describe(launch, event.to);
  return name;
}

class Writer {
 public:
  explicit Writer(double microseconds_per_cycle) : scale_(microseconds_per_cycle) {}

  void meta(std::string_view what, int process, int track, std::string_view name) {
    line(fmt::format(R"({{"name": "{}", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": {}}}}})", what, process,
                     track, quoted(name)));
  }
  void span(int process, int track, std::string_view name, std::string_view category, double begin, double end,
            const std::string& arguments) {
    line(fmt::format(
        R"({{"name": {}, "cat": "{}", "ph": "X", "ts": {:.6f}, "dur": {:.6f}, "pid": {}, "tid": {}, "args": {{{}}}}})",
        quoted(name), category, begin * scale_, (end - begin) * scale_, process, track, arguments));
  }
  std::string text() const { return R"({"displayTimeUnit": "ns", "traceEvents": [)" + lines_ + "\n]}\n"; }

 private:
  void line(const std::string& json) {
    lines_ += lines_.empty() ? "\n" : ",\n";
    lines_ += json;
  }

  double scale_;
  std::string lines_;
};

void write(Writer& out, int process, double start, const NamedTimeline& named) {
  const Timeline& t = named.timeline;
  std::set<int> used;
  for (std::size_t k = 0; k < t.intervals.size(); ++k) {
    const Interval& interval = t.intervals[k];
    if (interval.end <= interval.begin) continue;
    const Event& event = t.events[static_cast<std::size_t>(interval.event)];
    const int track = event.lane * tracks_of_lane + index_of(interval.unit);
    used.insert(track);
    out.span(process, track, name_of(*named.launch, event), fa::name_of(interval.unit), start + interval.begin,
             start + interval.end,
             fmt::format(R"("step": {}, "rows": "{}–{}", "HBM bytes": {}, "flops": {}, "modelled cycles": {:.1f})", k,
                         event.rows.begin, event.rows.end - 1, event.hbm.count(), event.flops.count(),
                         interval.end - interval.begin));
  }
  for (const Gap& gap : t.gaps) {
    const int track = gap.lane * tracks_of_lane + unit_count;
    used.insert(track);
    std::string name = "waits: " + std::string(fa::name_of(gap.reason));
    if (gap.buffer != no_buffer) name += " " + describe(*named.launch, gap.buffer);
    out.span(process, track, name, "gap", start + gap.begin, start + gap.end,
             fmt::format(R"("for step": {})", gap.event));
  }
  out.meta("process_name", process, 0, named.name + ", one SM, modelled");
  for (int track : used) {
    const int unit = track % tracks_of_lane;
    out.meta("thread_name", process, track,
             t.lanes[static_cast<std::size_t>(track / tracks_of_lane)] + " " +
                 std::string(unit == unit_count ? "waits" : unit_names[static_cast<std::size_t>(unit)]));
  }
}

}  // namespace

std::string to_perfetto(const std::vector<NamedTimeline>& timelines, const Hardware& hardware) {
  Writer out(1e-3 / hardware.boost_clock_ghz);
  double start = 0;
  for (std::size_t k = 0; k < timelines.size(); ++k) {
    write(out, static_cast<int>(k), start, timelines[k]);
    start += timelines[k].timeline.cycles;
  }
  return out.text();
}

}  // namespace fa

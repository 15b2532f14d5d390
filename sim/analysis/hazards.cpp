#include "sim/analysis/hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/core/error.h"

namespace fa {

std::string_view name_of(Why why) {
  switch (why) {
    case Why::read_after_write: return "read after write";
    case Why::write_after_read: return "write after read";
    case Why::write_after_write: return "write after write";
    case Why::turn: return "turn";
    case Why::barrier: return "barrier";
  }
  return "";
}

std::string describe(const Launch& launch, BufferId buffer) {
  const BufferInfo& info = launch.buffers[static_cast<std::size_t>(buffer)];
  if (info.stage >= 0) return fmt::format("{} stage {}", info.name, info.stage);
  const auto lane = static_cast<std::size_t>(info.lane);
  for (const BufferInfo& other : launch.buffers)
    if (other.name == info.name && other.lane != info.lane && lane < launch.lanes.size())
      return fmt::format("{} of {}", info.name, launch.lanes[lane]);
  return info.name;
}

std::string describe(const Launch& launch, std::span<const Event> events, std::size_t k) {
  const Event& event = events[k];
  const auto lane = static_cast<std::size_t>(event.lane);
  std::string text = fmt::format("{} {}", name_of(event.op), k);
  if (lane < launch.lanes.size()) text += fmt::format(" on {}", launch.lanes[lane]);
  if (event.tensor != Tensor::none) text += fmt::format(" of {}", name_of(event.tensor));
  if (!event.rows.empty()) text += fmt::format(" (rows {}–{})", event.rows.begin, event.rows.end - 1);
  return text;
}

namespace {

constexpr std::int32_t nobody = -1;

// Who has used a buffer since it was last written.
struct Use {
  std::int32_t writer = nobody;
  std::vector<std::int32_t> readers;
  bool holds = false;  // something of this block, not overwritten by a buffer in the same place
};

class Hazards {
 public:
  Hazards(const Launch& launch, std::span<const Event> events)
      : launch_(launch), events_(events), uses_(launch.buffers.size()), neighbours_(launch.buffers.size()) {
    for (std::size_t a = 0; a < uses_.size(); ++a)
      for (std::size_t b = 0; b < uses_.size(); ++b)
        if (a != b && overlap(launch.buffers[a], launch.buffers[b])) neighbours_[a].push_back(static_cast<BufferId>(b));
  }

  Waits derive() {
    const std::vector<std::vector<Wait>> meetings = rendezvous();
    Waits waits;
    for (std::size_t k = 0; k < events_.size(); ++k) {
      const Event& event = events_[k];
      if (k == 0 || event.block != events_[k - 1].block)
        for (Use& use : uses_) use.holds = false;
      found_.clear();
      for (BufferId from : event.from)
        if (from != no_buffer) read(from, k);
      if (event.to != no_buffer) {
        write(event.to, k);
      } else if (event.op == Op::start) {
        for (std::size_t id = 0; id < uses_.size(); ++id)
          if (launch_.buffers[id].fill) write(static_cast<BufferId>(id), k);
      }
      if (!meetings.empty()) found_.insert(found_.end(), meetings[k].begin(), meetings[k].end());
      for (const Wait& wait : found_) waits.add(wait);
      waits.close();
    }
    return waits;
  }

 private:
  static bool overlap(const BufferInfo& a, const BufferInfo& b) {
    return a.place && b.place && *a.place < *b.place + b.bytes && *b.place < *a.place + a.bytes;
  }
  Use& use(BufferId id) { return uses_[static_cast<std::size_t>(id)]; }

  void wait(std::int32_t event, BufferId buffer, Why why) {
    if (event == nobody) return;
    for (const Wait& known : found_)
      if (known.event == event) return;  // one reason is enough
    found_.push_back({event, buffer, why});
  }

  void read(BufferId id, std::size_t k) {
    Use& held = use(id);
    if (!held.holds) unwritten(id, k);
    wait(held.writer, id, Why::read_after_write);
    held.readers.push_back(static_cast<std::int32_t>(k));
  }

  void write(BufferId id, std::size_t k) {
    const auto now = static_cast<std::int32_t>(k);
    const auto after = [&](BufferId place) {
      Use& held = use(place);
      bool read = false;
      for (std::int32_t reader : held.readers)
        if (reader != now) wait(reader, place, Why::write_after_read), read = true;
      if (!read) wait(held.writer, place, Why::write_after_write);
      held.readers.clear();
    };
    after(id);
    for (BufferId other : neighbours_[static_cast<std::size_t>(id)]) {
      if (use(other).writer == nobody) continue;
      after(other);
      use(other) = Use();
    }
    use(id).writer = now;
    use(id).holds = true;
  }

  [[noreturn]] void unwritten(BufferId id, std::size_t k) const {
    for (std::size_t later = k + 1; later < events_.size() && events_[later].block == events_[k].block; ++later)
      if (events_[later].to == id)
        throw SpecError(fmt::format("{}: {} reads buffer {} before its tile arrives with {}.", launch_.name,
                                    describe(launch_, events_, k), describe(launch_, id),
                                    describe(launch_, events_, later)));
    throw SpecError(fmt::format("{}: {} reads buffer {}, but nothing of this block has put a tile there.", launch_.name,
                                describe(launch_, events_, k), describe(launch_, id)));
  }

  // Turns and barriers: the n-th of one lane goes with the n-th of the others.
  std::vector<std::vector<Wait>> rendezvous() const {
    std::map<int, std::vector<std::size_t>> turns, barriers;  // by lane
    for (std::size_t k = 0; k < events_.size(); ++k) {
      if (events_[k].op == Op::turn) turns[events_[k].lane].push_back(k);
      if (events_[k].op == Op::barrier) barriers[events_[k].lane].push_back(k);
    }
    std::vector<std::vector<Wait>> result;
    if (turns.empty() && barriers.empty()) return result;
    result.resize(events_.size());
    std::vector<std::int32_t> before(events_.size(), nobody);  // on the same lane
    std::map<int, std::int32_t> last;
    for (std::size_t k = 0; k < events_.size(); ++k) {
      const auto found = last.find(events_[k].lane);
      if (found != last.end()) before[k] = found->second;
      last[events_[k].lane] = static_cast<std::int32_t>(k);
    }
    for (const auto& [lane, mine] : barriers)
      for (const auto& [other, theirs] : barriers) {
        if (other == lane) continue;
        for (std::size_t n = 0; n < mine.size(); ++n)
          if (n < theirs.size() && before[theirs[n]] != nobody)
            result[mine[n]].push_back({before[theirs[n]], no_buffer, Why::barrier});
      }
    for (auto ring = turns.begin(); ring != turns.end(); ++ring) {
      const bool first = ring == turns.begin();
      const std::vector<std::size_t>& previous = first ? turns.rbegin()->second : std::prev(ring)->second;
      for (std::size_t n = first ? 1 : 0; n < ring->second.size(); ++n) {
        const std::size_t turn = first ? n - 1 : n;
        if (turn >= previous.size()) never(ring->second[n], previous);
        if (const std::int32_t product = last_product(previous[turn]); product != nobody)
          result[ring->second[n]].push_back({product, no_buffer, Why::turn});
      }
    }
    return result;
  }

  // The last of the products that follow a turn on its lane.
  std::int32_t last_product(std::size_t turn) const {
    std::int32_t product = nobody;
    for (std::size_t k = turn + 1; k < events_.size(); ++k) {
      if (events_[k].lane != events_[turn].lane) continue;
      if (events_[k].op != Op::matmul) break;
      product = static_cast<std::int32_t>(k);
    }
    return product;
  }

  [[noreturn]] void never(std::size_t k, const std::vector<std::size_t>& previous) const {
    throw SpecError(fmt::format("{}: {} waits for a turn that never comes: the lane before it took its last with {}.",
                                launch_.name, describe(launch_, events_, k),
                                describe(launch_, events_, previous.back())));
  }

  const Launch& launch_;
  std::span<const Event> events_;
  std::vector<Use> uses_;
  std::vector<std::vector<BufferId>> neighbours_;  // buffers in the same place
  std::vector<Wait> found_;
};

// Every event waits for its waits and for the event before it on its lane. Takes away what can start until nothing is
// left; what then is left goes round in a circle.
void refuse_cycles(const Launch& launch, std::span<const Event> events, const Waits& waits) {
  const std::size_t count = events.size();
  std::vector<std::int32_t> open(count, 0);
  std::vector<std::vector<std::int32_t>> waiting(count);
  std::vector<std::int32_t> before(count, nobody);
  std::map<int, std::int32_t> last;
  for (std::size_t k = 0; k < count; ++k) {
    const auto note = [&](std::int32_t first) {
      waiting[static_cast<std::size_t>(first)].push_back(static_cast<std::int32_t>(k));
      ++open[k];
    };
    for (const Wait& wait : waits.of(k)) note(wait.event);
    const auto found = last.find(events[k].lane);
    if (found != last.end()) note(before[k] = found->second);
    last[events[k].lane] = static_cast<std::int32_t>(k);
  }
  std::vector<std::int32_t> ready;
  for (std::size_t k = 0; k < count; ++k)
    if (open[k] == 0) ready.push_back(static_cast<std::int32_t>(k));
  std::size_t done = 0;
  while (!ready.empty()) {
    const auto k = static_cast<std::size_t>(ready.back());
    ready.pop_back();
    ++done;
    for (std::int32_t next : waiting[k])
      if (--open[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
  }
  if (done == count) return;

  // Follow what is stuck until an event comes again; a wait on a buffer on the way is what to name.
  std::size_t k = 0;
  while (open[k] == 0) ++k;
  std::vector<bool> seen(count, false);
  const Wait* wait = nullptr;
  std::size_t waiter = k;
  for (int round = 0; round < 2; ++round) {
    std::fill(seen.begin(), seen.end(), false);
    wait = nullptr;
    while (!seen[k]) {
      seen[k] = true;
      std::size_t next = k;
      for (const Wait& each : waits.of(k))
        if (open[static_cast<std::size_t>(each.event)] > 0) {
          next = static_cast<std::size_t>(each.event);
          if (!wait || (wait->buffer == no_buffer && each.buffer != no_buffer)) wait = &each, waiter = k;
          break;
        }
      if (next == k) next = static_cast<std::size_t>(before[k]);
      k = next;
    }
  }
  if (wait && wait->buffer != no_buffer)
    throw SpecError(
        fmt::format("{}: the waits form a cycle: {} waits on buffer {} ({}) for {}, which waits for it in turn.",
                    launch.name, describe(launch, events, waiter), describe(launch, wait->buffer), name_of(wait->why),
                    describe(launch, events, static_cast<std::size_t>(wait->event))));
  throw SpecError(fmt::format("{}: the waits form a cycle through {} and {}.", launch.name,
                              describe(launch, events, waiter),
                              describe(launch, events, static_cast<std::size_t>(wait ? wait->event : before[waiter]))));
}

}  // namespace

Waits waits(const Launch& launch, std::span<const Event> events) {
  Waits result = Hazards(launch, events).derive();
  refuse_cycles(launch, events, result);
  return result;
}

}  // namespace fa

#include "sim/analysis/sram.h"

#include <algorithm>
#include <cassert>
#include <span>

namespace fa {

SramMove& SramMove::operator+=(const SramMove& other) {
  bytes += other.bytes;
  wavefronts += other.wavefronts;
  conflicts += other.conflicts;
  return *this;
}

SramMove operator*(const SramMove& move, std::int64_t times) {
  const auto factor = static_cast<double>(times);
  return {move.bytes * times, move.wavefronts * factor, move.conflicts * factor};
}

SramTraffic& SramTraffic::operator+=(const SramTraffic& other) {
  copied += other.copied;
  stored += other.stored;
  operands += other.operands;
  loaded += other.loaded;
  sent += other.sent;
  return *this;
}

SramTraffic operator*(const SramTraffic& t, std::int64_t times) {
  return {t.copied * times, t.stored * times, t.operands * times, t.loaded * times, t.sent * times};
}

double SramTraffic::wavefronts() const {
  return copied.wavefronts + stored.wavefronts + operands.wavefronts + loaded.wavefronts + sent.wavefronts;
}
double SramTraffic::conflicts() const {
  return copied.conflicts + stored.conflicts + operands.conflicts + loaded.conflicts + sent.conflicts;
}

TileLayout layout_of(const BufferInfo& info) {
  const TileShape lies = info.by_columns ? TileShape{info.shape.cols, info.shape.rows} : info.shape;
  return usual_layout(lies.rows, static_cast<int>(info.bytes.count() / std::max(1, lies.rows)));
}

namespace {

// Row statistics are few bytes an instruction. A warp has 8 rows of a product's tile at once, one word each; where the rows
// are the columns of its fragments, a lane takes those of two neighbours, a wavefront for each 16 bytes. Kernels without
// products have one row at a time: a wavefront for each word that a warp writes, and for each two that it reads. Eight
// lanes share a row of a product with O, so that four sums of rows leave at once.
constexpr int word_bytes = 4, eight_rows = 8 * word_bytes, two_columns = 16, four_sums = 4 * word_bytes;

SramMove dense(Bytes bytes, int bytes_each = wavefront_bytes) {
  return {bytes, static_cast<double>(bytes.count()) / bytes_each, 0};
}
SramMove in_one_go(Bytes bytes) {  // by lanes side by side
  return {bytes, static_cast<double>(ceil_div(bytes.count(), wavefront_bytes)), 0};
}
SramMove of_tile(Bytes bytes, double conflicts) {
  const double least = static_cast<double>(bytes.count()) / wavefront_bytes;
  return {bytes, least * conflicts, least * (conflicts - 1)};
}

}  // namespace

SramPort::SramPort(const Launch& launch) : launch_(launch), products_(launch.counts.flops > Flops(0)) {
  for (const BufferInfo& info : launch.buffers) {
    Conflicts& of = conflicts_.emplace_back();
    if (info.level != Level::sram) continue;
    const TileLayout layout = layout_of(info);
    const bool fp32 = info.bytes.count() == info.shape.count() * 4;
    // Tiles smaller than what an instruction takes have no conflicts to speak of.
    const auto conflicts = [&](TileAccess access) {
      return why_invalid(layout, access) ? 1.0 : bank_use(layout, access).conflicts();
    };
    of = {conflicts(TileAccess::ldmatrix), conflicts(fp32 ? TileAccess::store_8 : TileAccess::store_4)};
  }
}

// B is read once for each part of the result's rows; the rest is A.
SramMove SramPort::operands(const Event& event) const {
  const auto at = [](BufferId id) { return static_cast<std::size_t>(id); };
  const BufferInfo &b = launch_.buffers[at(event.from[1])], &to = launch_.buffers[at(event.to)];
  const Bytes of_b = b.level == Level::sram ? b.bytes * to.warps.down : Bytes(0);
  SramMove move = of_tile(of_b, conflicts_[at(event.from[1])].operand);
  move += of_tile(event.sram_read - of_b, conflicts_[at(event.from[0])].operand);
  return move;
}

// What a product has left, or what it was packed to, on its way into a tile; or a number of each row.
SramMove SramPort::fragments(BufferId from, BufferId to, Bytes bytes) const {
  const BufferInfo& source = launch_.buffers[static_cast<std::size_t>(from)];
  if (source.shape.cols == 1 && bytes > Bytes(0)) return source.fill ? dense(bytes, four_sums) : in_one_go(bytes);
  return of_tile(bytes, conflicts_[static_cast<std::size_t>(to)].fragments);
}

SramTraffic SramPort::of(const Event& event) const {
  SramTraffic traffic;
  const Bytes in = event.sram_written, out = event.sram_read;
  switch (event.op) {
    case Op::load: traffic.copied = dense(in); break;
    case Op::matmul: traffic.operands = operands(event); break;
    case Op::convert:
    case Op::transpose:
      traffic.stored = fragments(event.from[0], event.to, in);
      traffic.loaded = dense(out);
      break;
    case Op::running_max:
    case Op::running_sum:
      traffic.stored = dense(in, products_ ? eight_rows : word_bytes);
      traffic.loaded = dense(out, products_ ? eight_rows : 2 * word_bytes);
      break;
    case Op::exp:
    case Op::normalise:
    case Op::softmax_gradient: traffic.loaded = dense(out, two_columns); break;
    case Op::row_dot: {
      const auto in_sram = [&](BufferId id) {
        return id != no_buffer && launch_.buffers[static_cast<std::size_t>(id)].level == Level::sram;
      };
      const bool tiles = std::any_of(event.from.begin(), event.from.end(), in_sram);
      traffic.stored = dense(in, word_bytes);
      traffic.loaded = dense(out, tiles ? wavefront_bytes : 2 * word_bytes);
      break;
    }
    case Op::store:
    case Op::reduce: {
      const BufferInfo& from = launch_.buffers[static_cast<std::size_t>(event.from[0])];
      const bool by_tma = from.level == Level::sram || from.warps.each > 1;  // warpgroups leave it to TMA
      traffic.stored = dense(in);
      (by_tma ? traffic.sent : traffic.loaded) = dense(out);
      break;
    }
    default: traffic.stored = dense(in); traffic.loaded = dense(out);
  }
  return traffic;
}

std::vector<SramTraffic> sram_traffic(const Run& run) {
  assert(run.detail >= Detail::kinds);
  std::vector<SramTraffic> result;
  for (const Launch& launch : run.launches) {
    SramTraffic& sum = result.emplace_back();
    const SramPort port(launch);
    std::vector<std::int64_t> blocks(launch.kinds.size());
    for (std::int32_t kind : launch.kind_of) ++blocks[static_cast<std::size_t>(kind)];
    for (std::size_t kind = 0; kind < blocks.size(); ++kind) {
      SramTraffic of_block;
      for (std::int64_t k = 0; k < launch.kinds[kind].events; ++k)
        of_block += port.of(run.events[static_cast<std::size_t>(launch.kinds[kind].first_event + k)]);
      sum += of_block * blocks[kind];
    }
  }
  if (run.detail == Detail::kinds) return result;
  std::vector<SramPort> ports(run.launches.begin(), run.launches.end());
  for (const Event& event : run.events) {
    const auto launch = static_cast<std::size_t>(event.launch);
    result[launch] += ports[launch].of(event);
  }
  return result;
}

SramTraffic total_sram_traffic(const Run& run) {
  SramTraffic total;
  for (const SramTraffic& launch : sram_traffic(run)) total += launch;
  return total;
}

// ---- Registers ----

namespace {

// Warps of each lane: those that share its largest grid.
std::vector<std::int64_t> warps_of_lanes(const Launch& launch) {
  std::vector<std::int64_t> warps(std::max<std::size_t>(1, launch.lanes.size()), launch.lanes.empty() ? 1 : 4);
  for (const BufferInfo& info : launch.buffers)
    if (static_cast<std::size_t>(info.lane) < warps.size())
      warps[static_cast<std::size_t>(info.lane)] =
          std::max<std::int64_t>(warps[static_cast<std::size_t>(info.lane)], info.warps.warps());
  return warps;
}

// Backwards through one block's events: a tile is wanted from where it is written to where it is last read.
class Wanted {
 public:
  explicit Wanted(const Launch& launch)
      : launch_(launch),
        wanted_(launch.buffers.size()),
        now_(std::max<std::size_t>(1, launch.lanes.size())),
        most_(now_.size()) {}

  void before(const Event& event) {
    if (event.op == Op::start && event.to == no_buffer) {
      for (std::size_t id = 0; id < wanted_.size(); ++id)
        if (launch_.buffers[id].fill) want(static_cast<BufferId>(id), false);
    } else if (event.to != no_buffer) {
      // An accumulator goes on with what it holds, unless it begins anew.
      const bool begins = event.op == Op::start || event.op == Op::load;
      want(event.to, launch_.buffers[static_cast<std::size_t>(event.to)].fill && !begins);
    }
    for (BufferId from : event.from)
      if (from != no_buffer) want(from, true);
    for (std::size_t lane = 0; lane < now_.size(); ++lane) most_[lane] = std::max(most_[lane], now_[lane]);
    Bytes sum;
    for (Bytes bytes : now_) sum += bytes;
    of_block_ = std::max(of_block_, sum);
  }
  Bytes of_block() const { return of_block_; }
  Bytes of_lane(std::size_t lane) const { return most_[lane]; }

 private:
  void want(BufferId id, bool wanted) {
    const BufferInfo& info = launch_.buffers[static_cast<std::size_t>(id)];
    const auto lane = static_cast<std::size_t>(info.lane);
    if (info.level != Level::registers || wanted_[static_cast<std::size_t>(id)] == wanted || lane >= now_.size())
      return;
    wanted_[static_cast<std::size_t>(id)] = wanted;
    const Bytes bytes = info.bytes * info.warps.copies;
    wanted ? now_[lane] += bytes : now_[lane] -= bytes;
  }

  const Launch& launch_;
  std::vector<bool> wanted_;  // by buffer
  std::vector<Bytes> now_, most_;
  Bytes of_block_;
};

}  // namespace

std::int64_t warps_of(const Launch& launch) {
  std::int64_t sum = 0;
  for (std::int64_t warps : warps_of_lanes(launch)) sum += warps;
  return sum;
}

std::vector<RegisterUse> register_use(const Run& run) {
  assert(run.detail >= Detail::kinds);
  std::vector<RegisterUse> result;
  const std::span<const Event> events(run.events);
  const auto look = [&](const Launch& launch, std::size_t first, std::size_t count, RegisterUse& use) {
    Wanted wanted(launch);
    for (std::size_t k = first + count; k-- > first;) wanted.before(events[k]);
    use.of_block = std::max(use.of_block, wanted.of_block());
    const std::vector<std::int64_t> warps = warps_of_lanes(launch);
    for (std::size_t lane = 0; lane < warps.size(); ++lane)
      use.of_thread = std::max(use.of_thread, static_cast<double>(wanted.of_lane(lane).count()) /
                                                  (4.0 * lane_count * static_cast<double>(warps[lane])));
  };
  for (const Launch& launch : run.launches) {
    RegisterUse& use = result.emplace_back();
    use.warps = warps_of(launch);
    for (const Launch::Kind& kind : launch.kinds)
      look(launch, static_cast<std::size_t>(kind.first_event), static_cast<std::size_t>(kind.events), use);
  }
  if (run.detail == Detail::kinds) return result;
  for (std::size_t first = 0, end = 0; first < events.size(); first = end) {
    while (end < events.size() && events[end].launch == events[first].launch &&
           events[end].block == events[first].block)
      ++end;
    const auto launch = static_cast<std::size_t>(events[first].launch);
    look(run.launches[launch], first, end - first, result[launch]);
  }
  return result;
}

}  // namespace fa

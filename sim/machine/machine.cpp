#include "sim/machine/machine.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>

#include "sim/machine/arithmetic.h"

namespace fa {

Machine::Machine(Run& run, bool record_values, std::int64_t stop_after)
    : run_(run), record_values_(record_values), stop_after_(stop_after) {}

HbmTensor Machine::hbm(Tensor id, Head heads, int rows, int cols, Element element, Tensor place_of) {
  run_.allocations.push_back({id, heads, rows, cols, size_of(element), place_of});
  HbmTensor tensor(id, heads, rows, cols, element);
  if (computes()) tensor.allocate_values();
  return tensor;
}

void Machine::keep(const HbmTensor& tensor) {
  run_.allocations.push_back({tensor.id(), tensor.heads(), tensor.rows(), tensor.cols(), size_of(tensor.element())});
}

bool Machine::begin_launch(std::string name, std::int64_t blocks) {
  if (stop_after_ == 0) throw Stopped{};
  Launch launch;
  launch.name = std::move(name);
  launch.blocks = blocks;
  launch.first_event = steps_;
  run_.launches.push_back(std::move(launch));
  launch_ = &run_.launches.back();
  launch_index_ = static_cast<int>(run_.launches.size()) - 1;
  slots_.clear();
  kinds_.clear();
  block_ = -1;
  return run_.detail != Detail::layout;
}

void Machine::begin_block(Head head) {
  ++block_;
  head_ = head;
  lane_ = 0;
  block_event_ = run_.events.size();
  for (Slot& slot : slots_) slot.content.clear();
}

namespace {

// What an event does, but for where in the tensors.
std::uint64_t work_of(const Event& event, std::uint64_t hash) {
  for (std::int64_t part :
       {std::int64_t{index_of(event.op)}, std::int64_t{event.lane}, std::int64_t{index_of(event.tensor)},
        std::int64_t{event.to}, std::int64_t{event.from[0]}, std::int64_t{event.from[1]}, std::int64_t{event.from[2]},
        std::int64_t{event.rows.size()}, std::int64_t{event.cols.size()}, event.hbm.count(), event.sram_read.count(),
        event.sram_written.count(), event.flops.count(), event.exponentials, event.special}) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

// Detail::kinds: keeps the block's events only if no block before did the same.
void Machine::end_block() {
  if (run_.detail != Detail::kinds) return;
  std::uint64_t hash = run_.events.size() - block_event_;
  for (std::size_t k = block_event_; k < run_.events.size(); ++k) hash = work_of(run_.events[k], hash);
  const auto [kind, is_new] = kinds_.try_emplace(hash, static_cast<std::int32_t>(launch().kinds.size()));
  launch().kind_of.push_back(kind->second);
  if (is_new)
    launch().kinds.push_back(
        {static_cast<std::int64_t>(block_event_), static_cast<std::int64_t>(run_.events.size() - block_event_)});
  else
    run_.events.resize(block_event_);
}

void Machine::record(Event& event) {
  event.launch = launch_index_;
  event.block = block_;
  event.head = head_;
  event.lane = lane_;
  event.special += std::exchange(divisions_, 0);
  launch().counts.add(event);
  launch().accesses.add(event);
  if (run_.detail != Detail::totals) {
    if (computes() && record_values_ && event.to != no_buffer) {
      const Slot& slot = slots_[static_cast<std::size_t>(event.to)];
      event.values = static_cast<std::int64_t>(run_.values.size());
      for (int r = 0; r < event.rows.size(); ++r) {
        const std::span<const float> row = slot.values.view().row(r).first(static_cast<std::size_t>(event.cols.size()));
        run_.values.insert(run_.values.end(), row.begin(), row.end());
      }
    }
    run_.events.push_back(event);
  }
  if (++steps_ == stop_after_) throw Stopped{};
}

State Machine::state() const {
  State state;
  state.step = steps_;
  if (steps_ == 0) return state;
  state.launch = static_cast<int>(run_.launches.size()) - 1;
  state.block = block_;
  state.counts = run_.counts();
  for (const Slot& slot : slots_) {
    if (!slot.content.filled) continue;
    BufferState content = slot.content;
    if (computes() && record_values_)
      for (int r = 0; r < content.rows.size(); ++r)
        for (int c = 0; c < content.cols.size(); ++c) content.values.push_back(slot.values.at(r, c));
    state.buffers.push_back(std::move(content));
  }
  return state;
}

// ---- Buffers ----

BufferId Block::open(std::string_view name, Level level, TileShape shape, Element element, const Special& special) {
  Launch& launch = machine_.launch();
  const Bytes bytes = shape.bytes(size_of(element));
  if (level == Level::sram) {
    const Bytes free = machine_.sram_capacity() - machine_.sram_used_;
    if (bytes > free)
      throw SpecError(fmt::format(
          "{}: buffer {} ({} × {} numbers, {} bytes) does not fit in SRAM: {} of {} bytes are free, {} too few; use "
          "fewer --rows-q or --rows-kv.",
          launch.name, name, shape.rows, shape.cols, bytes.count(), free.count(), machine_.sram_capacity().count(),
          (bytes - free).count()));
    machine_.sram_used_ += bytes;
    launch.sram_peak = std::max(launch.sram_peak, machine_.sram_used_);
  }

  // The same buffer of the next block has the same id, and stands in the same place.
  auto& slots = machine_.slots_;
  const auto is_it = [&](std::size_t id) {
    const BufferInfo& info = launch.buffers[id];
    return !slots[id].open && info.name == name && info.level == level && info.shape == shape &&
           info.stage == special.stage && info.lane == machine_.lane_;
  };
  std::size_t id = 0;
  while (id < slots.size() && !is_it(id)) ++id;
  if (id == slots.size()) {
    const std::optional<Bytes> place = level == Level::sram ? std::optional(free_place(bytes)) : std::nullopt;
    launch.buffers.push_back({std::string(name), level, shape, bytes, special.fill, place, special.stage,
                              machine_.lane_, special.warps, special.by_columns});
    Machine::Slot slot;
    slot.element = element;
    slot.sram_bytes_each = level == Level::sram ? size_of(element) : 0;
    slot.warps = special.warps;
    slot.shape = shape;
    slot.content.id = static_cast<BufferId>(id);
    if (machine_.computes()) slot.values = Matrix(shape.rows, shape.cols);
    slots.push_back(std::move(slot));
  }
  slots[id].open = true;
  return static_cast<BufferId>(id);
}

// The lowest place in SRAM that no open buffer takes.
Bytes Block::free_place(Bytes bytes) {
  const std::vector<BufferInfo>& buffers = machine_.launch().buffers;
  const auto meets = [&](std::size_t id, Bytes place) {
    const BufferInfo& other = buffers[id];
    return machine_.slots_[id].open && other.place && place < *other.place + other.bytes &&
           *other.place < place + bytes;
  };
  Bytes place;
  for (std::size_t id = 0; id < buffers.size();) {
    const bool taken = meets(id, place);
    if (taken) place = *buffers[id].place + buffers[id].bytes;
    id = taken ? 0 : id + 1;
  }
  return place;
}

void Block::close(BufferId id) {
  Slot& slot = machine_.slots_[static_cast<std::size_t>(id)];
  const BufferInfo& info = machine_.launch().buffers[static_cast<std::size_t>(id)];
  slot.open = false;
  if (info.level == Level::sram) machine_.sram_used_ -= info.bytes;
}

Buffer Block::sram(std::string_view name, TileShape shape) { return sram(name, shape, problem().element); }

Buffer Block::sram(std::string_view name, TileShape shape, Element element) {
  return {*this, open(name, Level::sram, shape, element, {})};
}

Buffer Block::sram_stage(std::string_view name, TileShape shape, int stage) {
  return {*this, open(name, Level::sram, shape, problem().element, {.stage = stage})};
}

Buffer Block::registers(std::string_view name, TileShape shape, WarpGrid warps) {
  return {*this, open(name, Level::registers, shape, Element::fp32, {.warps = warps})};
}

Buffer Block::packed(std::string_view name, TileShape shape, bool in_sram, WarpGrid warps, bool by_columns) {
  return {*this, open(name, in_sram ? Level::sram : Level::registers, shape, problem().element,
                      {.warps = warps, .by_columns = by_columns})};
}

Buffer Block::accumulator(std::string_view name, TileShape shape, float fill, WarpGrid warps) {
  return {*this, open(name, Level::registers, shape, Element::fp32, {.fill = fill, .warps = warps})};
}

int Block::lane(std::string_view name) {
  std::vector<std::string>& lanes = machine_.launch().lanes;
  const auto found = std::find(lanes.begin(), lanes.end(), name);
  if (found != lanes.end()) return static_cast<int>(found - lanes.begin());
  lanes.emplace_back(name);
  return static_cast<int>(lanes.size()) - 1;
}

void Block::turn() {
  Event event{.op = Op::turn};
  machine_.record(event);
}

void Block::barrier() {
  Event event{.op = Op::barrier};
  machine_.record(event);
}

void Block::start(Rows i) {
  const std::vector<BufferInfo>& buffers = machine_.launch().buffers;
  for (Slot& accumulator : machine_.slots_) {
    const BufferInfo& info = buffers[static_cast<std::size_t>(accumulator.content.id)];
    if (!accumulator.open || !info.fill) continue;
    accumulator.content.clear();
    accumulator.content.filled = true;
    accumulator.content.rows = i;
    accumulator.content.cols = {0, info.shape.cols};
    if (machine_.computes())
      std::fill(accumulator.values.values().begin(), accumulator.values.values().end(), *info.fill);
  }
  Event event{.op = Op::start, .rows = i};
  machine_.record(event);
}

void Block::start(const Buffer& accumulator, Rows i) {
  assert(info(accumulator).fill);
  hold(accumulator, i, {0, info(accumulator).shape.cols});
  if (machine_.computes())
    for (int r = 0; r < i.size(); ++r)
      std::fill(tile(accumulator).row(r).begin(), tile(accumulator).row(r).end(), *info(accumulator).fill);
  record(Op::start, accumulator, {}, {});
}

MatrixView Block::tile(const Buffer& buffer) {
  Slot& held = slot(buffer);
  return held.values.view().block({0, held.content.rows.size()}, {0, held.content.cols.size()});
}

void Block::hold(const Buffer& buffer, Rows rows, Rows cols) {
  assert(rows.size() <= info(buffer).shape.rows && cols.size() <= info(buffer).shape.cols);
  BufferState& content = slot(buffer).content;
  content.rows = rows;
  content.cols = cols;
}

void Block::record(Op op, const Buffer& to, std::initializer_list<const Buffer*> from, Event event) {
  event.op = op;
  event.to = to.id();
  std::size_t i = 0;
  for (const Buffer* buffer : from) event.from[i++] = buffer->id();
  slot(to).content.filled = true;
  slot(to).content.tensor = event.tensor;
  event.rows = slot(to).content.rows;
  event.cols = slot(to).content.cols;
  machine_.record(event);
}

// ---- Moving ----

void Block::load(const Buffer& to, HbmSource from, Rows rows) { load(to, from, rows, {0, from.tensor->cols()}); }

void Block::load(const Buffer& to, HbmSource from, Rows rows, Rows cols) {
  hold(to, rows, cols);
  if (machine_.computes()) {
    const ConstMatrixView source = from.tensor->values(from.head).view().block(rows, cols);
    const MatrixView target = tile(to);
    for (int r = 0; r < rows.size(); ++r) std::copy_n(source.row(r).data(), cols.size(), target.row(r).data());
  }
  // Not through Block::record, which would read back from the slot what was just written to it: loads are half of all
  // events, and a processor waits for such a read.
  Slot& held = slot(to);
  held.content.filled = true;
  held.content.tensor = from.tensor->id();
  const TileShape moved{rows.size(), cols.size()};
  Event event{.op = Op::load,
              .tensor = from.tensor->id(),
              .rows = rows,
              .cols = cols,
              .to = to.id(),
              .hbm = from.tensor->bytes(moved),
              .sram_written = moved.bytes(held.sram_bytes_each)};
  machine_.record(event);
}

Rows Block::sent_cols(HbmTarget to, const Buffer& from) {
  const int begin = slot(from).content.cols.begin;
  return {begin, std::min(begin + slot(from).shape.cols, to.tensor->cols())};
}

void Block::store(HbmTarget to, const Buffer& from) { move_out(Op::store, to, from, {{}, sent(to, from)}); }
void Block::store(HbmTarget to, ThroughSram from) { move_out(Op::store, to, from.buffer, passage(to, from.buffer)); }
void Block::reduce(HbmTarget to, const Buffer& from) { move_out(Op::reduce, to, from, {{}, sent(to, from)}); }
void Block::reduce(HbmTarget to, ThroughSram from) { move_out(Op::reduce, to, from.buffer, passage(to, from.buffer)); }

// Whole in, and out what is inside the tensor.
Block::Passage Block::passage(HbmTarget to, const Buffer& buffer) {
  const Slot& held = slot(buffer);
  const int each = size_of(to.tensor->element());
  const TileShape inside{held.content.rows.size(), sent_cols(to, buffer).size()};
  const Passage through{held.shape.bytes(each), inside.bytes(each)};
  Launch& launch = machine_.launch();
  if (through.in > machine_.sram_capacity())
    throw SpecError(fmt::format(
        "{}: {} ({} × {} numbers, {} bytes) leaves through SRAM, which has {} bytes for a block; use fewer --rows-q or "
        "--rows-kv.",
        launch.name, info(buffer).name, held.shape.rows, held.shape.cols, through.in.count(),
        machine_.sram_capacity().count()));
  launch.sram_peak = std::max(launch.sram_peak, through.in);
  return through;
}

void Block::move_out(Op op, HbmTarget to, const Buffer& from, Passage through) {
  const Rows rows = slot(from).content.rows, cols = sent_cols(to, from);
  assert(op == Op::store || to.tensor->element() == Element::fp32);
  if (machine_.computes()) {
    const ConstMatrixView source = slot(from).values.view().block({0, rows.size()}, {0, cols.size()});
    const MatrixView target = to.tensor->values(to.head).view().block(rows, cols);
    for (int r = 0; r < source.rows(); ++r) {
      for (int c = 0; c < source.cols(); ++c)
        target.at(r, c) = op == Op::reduce ? target.at(r, c) + source.at(r, c) : source.at(r, c);
      round_all(to.tensor->element(), target.row(r));
    }
  }
  Event event{.op = op,
              .tensor = to.tensor->id(),
              .rows = rows,
              .cols = cols,
              .hbm = to.tensor->bytes({rows.size(), cols.size()}),
              .sram_read = through.out,
              .sram_written = through.in};
  event.from[0] = from.id();
  machine_.record(event);
}

// ---- Matrix products ----

void Block::record_product(const Buffer& to, Bytes read, const Buffer& a, const Buffer& b, int depth) {
  record(Op::matmul, to, {&a, &b}, {.sram_read = read, .flops = Flops(2) * slot(to).shape.count() * depth});
}

// Every warp reads its rows of A and its columns of B.
void Block::record_product(const Buffer& to, const Buffer& a, const Buffer& b, int depth) {
  const WarpGrid& warps = slot(to).warps;
  record_product(to, whole(a) * warps.across + whole(b) * warps.down, a, b, depth);
}

void Block::matmul(const Buffer& to, const Buffer& a, Transposed b, double scale) {
  hold(to, slot(a).content.rows, slot(b.buffer).content.rows);
  if (machine_.computes())
    arithmetic::multiply_transposed(tile(to), tile(a), tile(b.buffer), static_cast<float>(scale));
  record_product(to, a, b.buffer, info(a).shape.cols);
}

void Block::matmul_add(const Buffer& to, const Buffer& a, Transposed b, double scale) {
  hold(to, slot(a).content.rows, slot(b.buffer).content.rows);
  if (machine_.computes()) {
    Matrix product(tile(to).rows(), tile(to).cols());
    arithmetic::multiply_transposed(product.view(), tile(a), tile(b.buffer), static_cast<float>(scale));
    for (int r = 0; r < product.rows(); ++r)
      for (int c = 0; c < product.cols(); ++c) tile(to).at(r, c) += product.view().at(r, c);
  }
  record_product(to, a, b.buffer, info(a).shape.cols);
}

Block::Weights Block::weights(const Buffer& scores, double scale) {
  const BufferState& content = slot(scores).content;
  Weights result{Matrix(content.rows.size(), content.cols.size()), {}};
  for (int r = 0; r < content.rows.size(); ++r) {
    std::copy_n(tile(scores).row(r).data(), content.cols.size(), result.packed.view().row(r).data());
    const int keys = problem().visible_keys(content.rows.begin + r) - content.cols.begin;
    result.visible.push_back(std::clamp(keys, 0, content.cols.size()));
  }
  round_all(problem().element, result.packed.values());
  if (scale != 1)
    for (float& weight : result.packed.values()) weight *= static_cast<float>(scale);
  return result;
}

void Block::matmul(const Buffer& to, const Buffer& a, const Buffer& b, double scale) {
  assert(slot(a).content.cols == slot(b).content.rows);
  hold(to, slot(a).content.rows, slot(b).content.cols);
  if (machine_.computes()) {
    for (int r = 0; r < tile(to).rows(); ++r) std::fill(tile(to).row(r).begin(), tile(to).row(r).end(), 0.0f);
    const Weights left = weights(a, scale);
    arithmetic::multiply_add(tile(to), left.packed.view(), tile(b), left.visible);
  }
  record_product(to, a, b, info(a).shape.cols);
}

void Block::matmul_add(const Buffer& to, const Buffer& a, const Buffer& b, double scale) {
  assert(slot(a).content.cols == slot(b).content.rows);
  hold(to, slot(a).content.rows, slot(b).content.cols);
  if (machine_.computes()) {
    const Weights left = weights(a, scale);
    arithmetic::multiply_add(tile(to), left.packed.view(), tile(b), left.visible);
  }
  record_product(to, a, b, info(a).shape.cols);
}

void Block::matmul_add(const Buffer& to, Transposed a, const Buffer& b, double scale) {
  assert(slot(a.buffer).content.rows == slot(b).content.rows);
  hold(to, slot(a.buffer).content.cols, slot(b).content.cols);
  if (machine_.computes()) {
    const Weights left = weights(a.buffer, scale);
    arithmetic::multiply_add_transposed(tile(to), left.packed.view(), tile(b), left.visible);
  }
  // A is shared out by its own rows, along which this product sums: of what a warp needs, it has kept that part.
  const WarpGrid& warps = slot(to).warps;
  const int made_by = a.kept ? slot(a.buffer).warps.down : 0;
  const Bytes read_a = made_by > 0 ? Bytes(whole(a.buffer).count() * warps.across / made_by * (made_by - 1))
                                   : whole(a.buffer) * warps.across;
  record_product(to, read_a + whole(b) * warps.down, a.buffer, b, info(a.buffer).shape.rows);
}

void Block::convert(const Buffer& to, const Buffer& from, double factor) {
  hold(to, slot(from).content.rows, slot(from).content.cols);
  if (machine_.computes())
    for (int r = 0; r < tile(to).rows(); ++r) {
      for (int c = 0; c < tile(to).cols(); ++c) tile(to).at(r, c) = static_cast<float>(factor) * tile(from).at(r, c);
      round_all(slot(to).element, tile(to).row(r));
    }
  record(Op::convert, to, {&from}, {.sram_read = whole(from), .sram_written = whole(to)});
}

void Block::transpose(const Buffer& to, const Buffer& from) {
  hold(to, slot(from).content.rows, slot(from).content.cols);
  if (machine_.computes())
    for (int r = 0; r < tile(to).rows(); ++r)
      std::copy_n(tile(from).row(r).data(), tile(from).cols(), tile(to).row(r).data());
  record(Op::transpose, to, {&from}, {.sram_read = whole(from), .sram_written = whole(to)});
}

void Block::merge(const Buffer& sums) {
  const int copies = slot(sums).warps.copies;
  if (copies == 1) return;
  // However few columns at a time: the scratch that this takes is left out of the SRAM peak.
  const Slot& held = slot(sums);
  const TileShape inside{held.content.rows.size(), held.shape.cols};
  record(Op::merge, sums, {&sums},
         {.sram_read = inside.bytes(size_of(held.element)) * copies,
          .sram_written = held.shape.bytes(size_of(held.element)) * copies});
}

// ---- Element by element ----

void Block::mask(const Buffer& scores, float hidden) {
  const BufferState& content = slot(scores).content;
  if (problem().visible_keys(content.rows.begin) >= content.cols.end) return;  // every row sees every key of this tile
  if (machine_.computes()) {
    const MatrixView s = tile(scores);
    for (int r = 0; r < s.rows(); ++r)
      for (int c = std::max(0, problem().visible_keys(content.rows.begin + r) - content.cols.begin); c < s.cols(); ++c)
        s.at(r, c) = hidden;
  }
  record(Op::mask, scores, {&scores}, {.sram_read = touched(scores), .sram_written = touched(scores)});
}

void Block::scale(const Buffer& scores, double factor) {
  if (machine_.computes())
    for (int r = 0; r < tile(scores).rows(); ++r)
      for (float& score : tile(scores).row(r)) score *= static_cast<float>(factor);
  record(Op::scale, scores, {&scores}, {.sram_read = touched(scores), .sram_written = touched(scores)});
}

void Block::dropout(const Buffer& p, const Buffer& keep) {
  hold(keep, slot(p).content.rows, slot(p).content.cols);
  if (machine_.computes())
    for (int r = 0; r < tile(keep).rows(); ++r) std::fill(tile(keep).row(r).begin(), tile(keep).row(r).end(), 1.0f);
  record(Op::dropout, keep, {&p}, {.sram_read = touched(p)});
}

// ---- Online softmax ----

std::int64_t Block::special(const Buffer& rows, const RowWork& work) {
  const Rows inside = slot(rows).content.rows;
  const int blind = std::clamp(problem().first_sighted() - inside.begin, 0, inside.size());
  return work.executed(slot(rows).shape.rows, inside.size(), blind);
}

Block::Passage Block::over_warps(const Buffer& tile) {
  const std::int64_t warps = slot(tile).warps.across;
  if (warps == 1) return {};
  const Bytes written = Bytes(slot(tile).content.rows.size()) * size_of(Element::fp32) * warps;
  return {written, written * warps};
}

void Block::running_max(const Buffer& m, const Buffer& scores) {
  if (machine_.computes()) {
    Slot& max = slot(m);
    max.before.assign(max.values.values().begin(), max.values.values().end());
    arithmetic::row_max(max.values.values(), tile(scores));
  }
  const Passage shared = over_warps(scores);
  record(Op::running_max, m, {&m, &scores}, {.sram_read = touched(scores) + shared.out, .sram_written = shared.in});
}

void Block::rescale_factor(const Buffer& r, const Buffer& m, RowWork work) {
  hold(r, slot(m).content.rows, slot(m).content.cols);
  if (machine_.computes()) {
    const Slot& max = slot(m);
    for (int i = 0; i < tile(m).rows(); ++i) {
      // No key seen before: what was kept is 0, and exp(−∞) forgets it. None seen now either: still 0, not NaN.
      const float now = max.values.at(i, 0);
      const float shift = now == -std::numeric_limits<float>::infinity() ? 0.0f : now;
      tile(r).at(i, 0) = std::exp(max.before[static_cast<std::size_t>(i)] - shift);
    }
  }
  record(Op::rescale_factor, r, {&m}, {.exponentials = info(r).shape.rows, .special = special(m, work)});
}

void Block::exp(const Buffer& p, const Buffer& scores, const Buffer& m) {
  const BufferState& content = slot(scores).content;
  hold(p, content.rows, content.cols);
  if (machine_.computes()) arithmetic::exp_minus(tile(p), tile(scores), slot(m).values.values());
  const std::int64_t count = info(p).shape.count();
  record(Op::exp, p, {&scores, &m},
         {.sram_read = touched(scores) + of_rows(m, scores), .exponentials = count, .special = count});
}

void Block::running_sum(const Buffer& l, const Buffer& p) {
  if (machine_.computes())
    for (int i = 0; i < tile(l).rows(); ++i)
      for (float value : tile(p).row(i)) tile(l).at(i, 0) += value;
  const Passage shared = over_warps(p);
  record(Op::running_sum, l, {&p}, {.sram_read = shared.out, .sram_written = shared.in});
}

void Block::running_sum(const Buffer& l, const Buffer& r, const Buffer& p) {
  if (machine_.computes())
    for (int i = 0; i < tile(l).rows(); ++i) {
      float sum = 0.0f;
      for (float value : tile(p).row(i)) sum += value;
      tile(l).at(i, 0) = tile(r).at(i, 0) * tile(l).at(i, 0) + sum;
    }
  const Passage shared = over_warps(p);
  record(Op::running_sum, l, {&r, &p}, {.sram_read = shared.out, .sram_written = shared.in});
}

void Block::rescale(const Buffer& o, const Buffer& r) {
  if (machine_.computes())
    for (int i = 0; i < tile(o).rows(); ++i)
      for (float& value : tile(o).row(i)) value *= tile(r).at(i, 0);
  record(Op::rescale, o, {&o, &r}, {});
}

void Block::normalise(const Buffer& o, const Buffer& l, RowWork work) {
  if (machine_.computes())
    for (int i = 0; i < tile(o).rows(); ++i) {
      const float sum = tile(l).at(i, 0);
      for (float& value : tile(o).row(i)) value = sum == 0.0f ? 0.0f : value / sum;  // a row that sees no key gives 0
    }
  record(Op::normalise, o, {&o, &l}, {.special = special(l, work)});
}

void Block::log_sum_exp(const Buffer& lse, const Buffer& m, const Buffer& l, RowWork work) {
  hold(lse, slot(m).content.rows, slot(m).content.cols);
  if (machine_.computes())
    for (int i = 0; i < tile(m).rows(); ++i) tile(lse).at(i, 0) = tile(m).at(i, 0) + std::log(tile(l).at(i, 0));
  record(Op::log_sum_exp, lse, {&m, &l}, {.special = special(m, work)});
}

// ---- The gradient of softmax ----

void Block::row_dot(const Buffer& D, const Buffer& a, const Buffer& b) {
  if (machine_.computes())
    for (int i = 0; i < tile(D).rows(); ++i) {
      float sum = 0.0f;
      for (int c = 0; c < tile(a).cols(); ++c) sum += tile(a).at(i, c) * tile(b).at(i, c);
      tile(D).at(i, 0) += sum;
    }
  const Passage shared = over_warps(a);
  record(Op::row_dot, D, {&D, &a, &b}, {.sram_read = touched(a) + touched(b) + shared.out, .sram_written = shared.in});
}

void Block::softmax_gradient(const Buffer& dS, const Buffer& P, const Buffer& dP, const Buffer& D) {
  hold(dS, slot(P).content.rows, slot(P).content.cols);
  if (machine_.computes())
    for (int i = 0; i < tile(dS).rows(); ++i) {
      const float* p = tile(P).row(i).data();
      const float* dp = tile(dP).row(i).data();
      float* to = tile(dS).row(i).data();
      const float row = tile(D).at(i, 0);
      for (int c = 0; c < tile(dS).cols(); ++c) to[c] = p[c] * (dp[c] - row);
    }
  record(Op::softmax_gradient, dS, {&P, &dP, &D}, {.sram_read = touched(P) + touched(dP) + of_rows(D, P)});
}

void Block::dropout_gradient(const Buffer& dP, const Buffer& keep) {
  if (machine_.computes())
    for (int i = 0; i < tile(dP).rows(); ++i)
      for (int c = 0; c < tile(dP).cols(); ++c) tile(dP).at(i, c) *= tile(keep).at(i, c);
  record(Op::dropout, dP, {&dP, &keep}, {.sram_read = touched(dP) + touched(keep), .sram_written = touched(dP)});
}

}  // namespace fa

#include "sim/machine/machine.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>

#include "sim/machine/arithmetic.h"

namespace fa {

Machine::Machine(Run& run, bool record_values, std::int64_t stop_after)
    : run_(run), record_values_(record_values), stop_after_(stop_after) {}

HbmTensor Machine::hbm(Tensor id, Head heads, int rows, int cols, Element element) {
  run_.allocations.push_back({id, heads, rows, cols, size_of(element)});
  HbmTensor tensor(id, heads, rows, cols, element);
  if (computes()) tensor.allocate_values();
  return tensor;
}

void Machine::begin_launch(std::string name, std::int64_t blocks) {
  if (stop_after_ == 0) throw Stopped{};
  Launch launch;
  launch.name = std::move(name);
  launch.blocks = blocks;
  launch.first_event = steps_;
  run_.launches.push_back(std::move(launch));
  slots_.clear();
  block_ = -1;
}

void Machine::begin_block(Head head) {
  ++block_;
  head_ = head;
  for (Slot& slot : slots_) slot.content.clear();
}

void Machine::record(Event& event) {
  event.launch = static_cast<int>(run_.launches.size()) - 1;
  event.block = block_;
  event.head = head_;
  launch().counts.add(event);
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

BufferId Block::open(std::string_view name, Level level, TileShape shape, int bytes_each, std::optional<float> fill) {
  Launch& launch = machine_.launch();
  const Bytes bytes = shape.bytes(bytes_each);
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

  // The same buffer of the next block has the same id.
  auto& slots = machine_.slots_;
  std::size_t id = 0;
  while (id < slots.size() && (slots[id].open || launch.buffers[id].name != name || launch.buffers[id].shape != shape))
    ++id;
  if (id == slots.size()) {
    launch.buffers.push_back({std::string(name), level, shape, bytes, fill});
    Machine::Slot slot;
    slot.bytes_each = bytes_each;
    slot.content.id = static_cast<BufferId>(id);
    if (machine_.computes()) slot.values = Matrix(shape.rows, shape.cols);
    slots.push_back(std::move(slot));
  }
  slots[id].open = true;
  return static_cast<BufferId>(id);
}

void Block::close(BufferId id) {
  Slot& slot = machine_.slots_[static_cast<std::size_t>(id)];
  const BufferInfo& info = machine_.launch().buffers[static_cast<std::size_t>(id)];
  slot.open = false;
  if (info.level == Level::sram) machine_.sram_used_ -= info.bytes;
}

Buffer Block::sram(std::string_view name, TileShape shape) {
  return {*this, open(name, Level::sram, shape, size_of(problem().element), std::nullopt)};
}

Buffer Block::registers(std::string_view name, TileShape shape) {
  return {*this, open(name, Level::registers, shape, size_of(Element::fp32), std::nullopt)};
}

Buffer Block::accumulator(std::string_view name, TileShape shape, float fill) {
  return {*this, open(name, Level::registers, shape, size_of(Element::fp32), fill)};
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

MatrixView Block::tile(const Buffer& buffer) {
  Slot& held = slot(buffer);
  return held.values.view().block({0, held.content.rows.size()}, {0, held.content.cols.size()});
}

Bytes Block::sram_bytes(const Buffer& buffer, TileShape shape) {
  return info(buffer).level == Level::sram ? shape.bytes(slot(buffer).bytes_each) : Bytes(0);
}

Bytes Block::touched(const Buffer& buffer) {
  const BufferState& content = slot(buffer).content;
  return sram_bytes(buffer, {content.rows.size(), content.cols.size()});
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
  record(Op::load, to, {},
         {.tensor = from.tensor->id(),
          .hbm = from.tensor->bytes({rows.size(), cols.size()}),
          .sram_written = touched(to)});
}

void Block::store(HbmTarget to, const Buffer& from) {
  const BufferState& content = slot(from).content;
  if (machine_.computes()) {
    const ConstMatrixView source = tile(from);
    const MatrixView target = to.tensor->values(to.head).view().block(content.rows, content.cols);
    for (int r = 0; r < source.rows(); ++r) {
      std::copy_n(source.row(r).data(), source.cols(), target.row(r).data());
      round_all(to.tensor->element(), target.row(r));
    }
  }
  Event event{.op = Op::store,
              .tensor = to.tensor->id(),
              .rows = content.rows,
              .cols = content.cols,
              .hbm = to.tensor->bytes({content.rows.size(), content.cols.size()}),
              .sram_read = touched(from)};
  event.from[0] = from.id();
  machine_.record(event);
}

// ---- Matrix products ----

void Block::matmul(const Buffer& to, const Buffer& a, Transposed b, double scale) {
  hold(to, slot(a).content.rows, slot(b.buffer).content.rows);
  if (machine_.computes())
    arithmetic::multiply_transposed(tile(to), tile(a), tile(b.buffer), static_cast<float>(scale));
  const TileShape shape = info(to).shape;
  record(Op::matmul, to, {&a, &b.buffer},
         {.sram_read = whole(a) + whole(b.buffer), .flops = Flops(2) * shape.count() * info(a).shape.cols});
}

void Block::matmul_add(const Buffer& to, const Buffer& a, const Buffer& b) {
  assert(slot(a).content.cols == slot(b).content.rows);
  const BufferState& left = slot(a).content;
  hold(to, left.rows, slot(b).content.cols);
  if (machine_.computes()) {
    // A operand in registers is packed to the element type, as the tensor cores take it.
    Matrix packed(left.rows.size(), left.cols.size());
    std::vector<int> visible;
    for (int r = 0; r < left.rows.size(); ++r) {
      std::copy_n(tile(a).row(r).data(), left.cols.size(), packed.view().row(r).data());
      const int keys = problem().visible_keys(left.rows.begin + r) - left.cols.begin;
      visible.push_back(std::clamp(keys, 0, left.cols.size()));
    }
    round_all(problem().element, packed.values());
    arithmetic::multiply_add(tile(to), packed.view(), tile(b), visible);
  }
  const TileShape shape = info(to).shape;
  record(Op::matmul, to, {&a, &b},
         {.sram_read = whole(a) + whole(b), .flops = Flops(2) * shape.count() * info(a).shape.cols});
}

// ---- Element by element ----

void Block::mask(const Buffer& scores) {
  const BufferState& content = slot(scores).content;
  if (problem().visible_keys(content.rows.begin) >= content.cols.end) return;  // every row sees every key of this tile
  if (machine_.computes()) {
    const MatrixView s = tile(scores);
    for (int r = 0; r < s.rows(); ++r)
      for (int c = std::max(0, problem().visible_keys(content.rows.begin + r) - content.cols.begin); c < s.cols(); ++c)
        s.at(r, c) = -std::numeric_limits<float>::infinity();
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

void Block::running_max(const Buffer& m, const Buffer& scores) {
  if (machine_.computes()) {
    Slot& max = slot(m);
    max.before.assign(max.values.values().begin(), max.values.values().end());
    arithmetic::row_max(max.values.values(), tile(scores));
  }
  record(Op::running_max, m, {&m, &scores}, {.sram_read = touched(scores)});
}

void Block::rescale_factor(const Buffer& r, const Buffer& m) {
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
  record(Op::rescale_factor, r, {&m}, {.exponentials = info(r).shape.rows});
}

void Block::exp(const Buffer& p, const Buffer& scores, const Buffer& m) {
  const BufferState& content = slot(scores).content;
  hold(p, content.rows, content.cols);
  if (machine_.computes()) arithmetic::exp_minus(tile(p), tile(scores), slot(m).values.values());
  record(Op::exp, p, {&scores, &m}, {.sram_read = touched(scores), .exponentials = info(p).shape.count()});
}

void Block::running_sum(const Buffer& l, const Buffer& p) {
  if (machine_.computes())
    for (int i = 0; i < tile(l).rows(); ++i)
      for (float value : tile(p).row(i)) tile(l).at(i, 0) += value;
  record(Op::running_sum, l, {&p}, {});
}

void Block::running_sum(const Buffer& l, const Buffer& r, const Buffer& p) {
  if (machine_.computes())
    for (int i = 0; i < tile(l).rows(); ++i) {
      float sum = 0.0f;
      for (float value : tile(p).row(i)) sum += value;
      tile(l).at(i, 0) = tile(r).at(i, 0) * tile(l).at(i, 0) + sum;
    }
  record(Op::running_sum, l, {&r, &p}, {});
}

void Block::rescale(const Buffer& o, const Buffer& r) {
  if (machine_.computes())
    for (int i = 0; i < tile(o).rows(); ++i)
      for (float& value : tile(o).row(i)) value *= tile(r).at(i, 0);
  record(Op::rescale, o, {&o, &r}, {});
}

void Block::normalise(const Buffer& o, const Buffer& l) {
  if (machine_.computes())
    for (int i = 0; i < tile(o).rows(); ++i) {
      const float sum = tile(l).at(i, 0);
      for (float& value : tile(o).row(i)) value = sum == 0.0f ? 0.0f : value / sum;  // a row that sees no key gives 0
    }
  record(Op::normalise, o, {&o, &l}, {});
}

void Block::log_sum_exp(const Buffer& lse, const Buffer& m, const Buffer& l) {
  hold(lse, slot(m).content.rows, slot(m).content.cols);
  if (machine_.computes())
    for (int i = 0; i < tile(m).rows(); ++i) tile(lse).at(i, 0) = tile(m).at(i, 0) + std::log(tile(l).at(i, 0));
  record(Op::log_sum_exp, lse, {&m, &l}, {});
}

}  // namespace fa

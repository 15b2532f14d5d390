#include "sim/record/accesses.h"

#include <algorithm>
#include <utility>

namespace fa {

namespace {

// Whether the tile of the event lies next to where the run has come, and so makes it longer. All tiles of a run are of one
// size, but for the last one (by place), which may be smaller.
bool lengthen(Access& run, const Event& event) {
  const bool along_cols = run.rows == event.rows && run.cols != event.cols;
  if (!along_cols && run.cols != event.cols) return false;
  Rows& covered = along_cols ? run.cols : run.rows;
  const Rows tile = along_cols ? event.cols : event.rows;
  const bool after = tile.begin == covered.end, before = tile.end == covered.begin;
  const int size = along_cols ? run.tile.cols : run.tile.rows;
  if (!(after && tile.size() <= size && covered.size() == run.tiles * size) &&
      !(before && (run.tiles == 1 ? tile.size() >= size : tile.size() == size)))
    return false;
  if (run.tiles == 1)
    run.along_cols = along_cols, run.descending = before;
  else if (run.along_cols != along_cols || run.descending != before)
    return false;
  covered = {std::min(covered.begin, tile.begin), std::max(covered.end, tile.end)};
  run.tile = {std::max(run.tile.rows, event.rows.size()), std::max(run.tile.cols, event.cols.size())};
  ++run.tiles;
  return true;
}

// Whether the run's tiles follow each other at equal intervals with this one too: then first, last and their number say when
// each was moved. (Under a causal mask flash1 would otherwise seem to store tiles before it has read them.)
bool in_step(const Access& run, std::int64_t now) {
  return run.tiles == 1 || (now - run.last) * (run.tiles - 1) == run.last - run.first;
}

// load, store, reduce: 0, 1, 2.
std::size_t how(Op op) { return op == Op::load ? 0 : op == Op::store ? 1 : 2; }

// The same tile of the same tensor, moved the same way; it may stand elsewhere.
bool alike(const Access& a, const Access& b) {
  return a.tensor == b.tensor && a.op == b.op && a.along_cols == b.along_cols && a.descending == b.descending &&
         a.tile == b.tile;
}

}  // namespace

void Accesses::add(const Event& event) {
  if (event.tensor == Tensor::none || event.rows.empty() || event.cols.empty()) return;
  if (event.block != open_block_) close();
  open_block_ = event.block;
  const std::int64_t now = moves_++;
  std::int32_t& latest = latest_[static_cast<std::size_t>(event.tensor)][how(event.op)];
  if (latest >= 0) {
    Access& run = open_[static_cast<std::size_t>(latest)];
    if (run.head == event.head && in_step(run, now) && lengthen(run, event)) {
      run.last = now;
      return;
    }
  }
  latest = static_cast<std::int32_t>(open_.size());
  open_.push_back({.tensor = event.tensor,
                   .op = event.op,
                   .head = event.head,
                   .tile = {event.rows.size(), event.cols.size()},
                   .rows = event.rows,
                   .cols = event.cols,
                   .tiles = 1,
                   .first = now,
                   .last = now});
}

// Whether the open block goes on with the stretch, whose last block is `last_`. The second block sets the step.
bool Accesses::joins(Stretch& stretch) const {
  const std::vector<Access>&a = last_, &b = open_;
  if (a.size() != b.size()) return false;
  const bool second = stretch.count == 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!alike(a[i], b[i])) return false;
    const Step step{.rows_begin = b[i].rows.begin - a[i].rows.begin,
                    .rows_end = b[i].rows.end - a[i].rows.end,
                    .cols_begin = b[i].cols.begin - a[i].cols.begin,
                    .cols_end = b[i].cols.end - a[i].cols.end,
                    .head = b[i].head - a[i].head,
                    .tiles = b[i].tiles - a[i].tiles,
                    .first = b[i].first - a[i].first,
                    .last = b[i].last - a[i].last};
    if (!second && step != stretch.steps[i]) return false;
    if (second) stretch.steps[i] = step;
  }
  return true;
}

void Accesses::close() {
  moves_ = 0;
  if (open_.empty()) return;
  ++blocks_;
  if (!stretches_.empty() && joins(stretches_.back()))
    ++stretches_.back().count;
  else
    stretches_.push_back({.first = open_, .steps = std::vector<Step>(open_.size())});
  std::swap(last_, open_);
  open_.clear();
  latest_ = nothing_open();
}

TileShape Accesses::tile(Tensor tensor) const {
  TileShape read, out;  // ragged tiles are smaller
  const auto look = [&](const BlockAccesses& block) {
    for (const Access& access : block) {
      if (access.tensor != tensor) continue;
      TileShape& largest = access.op == Op::load ? read : out;
      largest = {std::max(largest.rows, access.tile.rows), std::max(largest.cols, access.tile.cols)};
    }
  };
  for (const Stretch& stretch : stretches_) look(stretch.first);
  look(open_);
  if (read.count() == 0 || out.count() == 0) return read.count() == 0 ? out : read;
  return {std::min(read.rows, out.rows), std::min(read.cols, out.cols)};
}

const BlockAccesses* Accesses::Cursor::next() {
  if (stretch_ < accesses_->stretches_.size()) {
    const Stretch& stretch = accesses_->stretches_[stretch_];
    if (done_ == 0) {
      block_ = stretch.first;
    } else {
      for (std::size_t i = 0; i < block_.size(); ++i) {
        Access& access = block_[i];
        const Step& step = stretch.steps[i];
        access.rows = {access.rows.begin + step.rows_begin, access.rows.end + step.rows_end};
        access.cols = {access.cols.begin + step.cols_begin, access.cols.end + step.cols_end};
        access.head += step.head;
        access.tiles += step.tiles;
        access.first += step.first;
        access.last += step.last;
      }
    }
    if (++done_ == stretch.count) ++stretch_, done_ = 0;
    return &block_;
  }
  if (last_given_ || accesses_->open_.empty()) return nullptr;
  last_given_ = true;
  return &accesses_->open_;
}

}  // namespace fa

#include "sim/analysis/cache.h"

#include <algorithm>
#include <cmath>

#include "sim/analysis/l2.h"
#include "sim/analysis/residency.h"

namespace fa {
namespace {

constexpr std::int64_t most_tiles = 1 << 14;  // of a tensor; a finer cut is counted as if it were coarser
constexpr int most_partitions = 4;

// How a launch cuts a tensor, and where its tiles were last used.
struct Cut {
  Allocation tensor;
  Tensor holds = Tensor::none;      // the tensor that was written here last: another may take its place
  TileShape tile;                   // 0 × 0: no launch has used it yet
  std::int64_t rows = 0, cols = 0;  // of tiles, in one head
  L2::Tiles used;

  std::int64_t count() const { return tensor.heads * rows * cols; }
  std::int64_t index(Head head, std::int64_t row, std::int64_t col) const { return (head * rows + row) * cols + col; }
  std::int64_t bytes(std::int64_t row, std::int64_t col) const {
    const std::int64_t height = std::min<std::int64_t>(tile.rows, tensor.rows - row * tile.rows);
    const std::int64_t width = std::min<std::int64_t>(tile.cols, tensor.cols - col * tile.cols);
    return height * width * tensor.bytes_each;
  }
};

// A run of tiles on its way: the next one comes when `credit` reaches the run's length in time.
struct Walk {
  Cut* cut;
  const Access* access;
  Head head;     // of the tensor
  bool aligned;  // its tiles are those of the cut
  std::int64_t k = 0, credit = 0;
};

class Player {
 public:
  explicit Player(const Run& run)
      : run_(run), l2_(run.hardware.l2, std::min(run.hardware.l2_partitions, most_partitions)) {
    for (int i = 0; i < tensor_count; ++i) place_[static_cast<std::size_t>(i)] = i;
    for (const Allocation& allocation : run.allocations) {
      if (allocation.tensor == Tensor::none) continue;
      if (allocation.place_of != Tensor::none) {
        place_[at(allocation.tensor)] = place_[at(allocation.place_of)];
        continue;
      }
      Cut& cut = cut_of(allocation.tensor);
      cut.tensor = allocation, cut.holds = allocation.tensor;
    }
  }

  DramTraffic play() {
    DramTraffic result;
    for (const Launch& launch : run_.launches) {
      dram_ = {};
      const auto before = moved_;
      play(launch);
      for (Cut& cut : cuts_) evict(cut);
      result.launches.push_back({rounded(dram_.read), rounded(dram_.written)});
      for (std::size_t i = 0; i < tensor_count; ++i)
        result.launches.back().read_of[i] = rounded(moved_[i].read - before[i].read);
    }
    double read = 0, written = 0, dirty = 0;
    for (const Cut& cut : cuts_) {
      const double left = dirty_bytes(cut);
      if (left > 0) moved_[at(cut.holds)].written += left;
      dirty += left;
    }
    for (std::size_t i = 0; i < tensor_count; ++i) {
      result.tensors[i].read = rounded(moved_[i].read);
      result.tensors[i].written = rounded(moved_[i].written);
      read += moved_[i].read, written += moved_[i].written;
    }
    result.read = rounded(read), result.written = rounded(written), result.dirty = rounded(dirty);
    return result;
  }

 private:
  // A place on an SM, with the block that has it.
  struct Slot {
    BlockAccesses block;
    std::size_t begun = 0;  // runs of the block
    std::vector<Walk> walks;
    std::int64_t now = 0, end = 0;  // moves of the block
  };

  static Bytes rounded(double bytes) { return Bytes(std::llround(bytes)); }
  static std::size_t at(Tensor tensor) { return static_cast<std::size_t>(index_of(tensor)); }
  Cut& cut_of(Tensor tensor) { return cuts_[static_cast<std::size_t>(place_[at(tensor)])]; }

  void play(const Launch& launch) {
    for (int i = 0; i < tensor_count; ++i)
      if (const TileShape tile = launch.accesses.tile(tensor_at(i)); tile.count() > 0)
        recut(cut_of(tensor_at(i)), tile);

    Accesses::Cursor blocks(launch.accesses);
    const std::int64_t room = std::int64_t{run_.hardware.sms} * blocks_per_sm(run_, launch);
    std::vector<Slot> slots(static_cast<std::size_t>(std::min(room, launch.accesses.blocks())));
    for (Slot& slot : slots) take(slot, blocks.next());
    for (bool busy = true; busy;) {
      busy = false;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].now == slots[i].end) continue;
        step(slots[i], partition_of(i));
        if (slots[i].now == slots[i].end) take(slots[i], blocks.next());
        busy |= slots[i].now < slots[i].end;
      }
    }
  }

  // Which partition a place is beside: half of them each, in an order that has nothing to do with that of the blocks.
  // (The GPU's own order is not published. Were it the blocks', heads that take turns could each have a partition.)
  int partition_of(std::size_t place) const {
    const std::uint32_t mixed = static_cast<std::uint32_t>(place) * 0x9e3779b9u;
    return static_cast<int>((mixed >> 16) % static_cast<std::uint32_t>(l2_.partitions()));
  }

  static void take(Slot& slot, const BlockAccesses* block) {
    slot.walks.clear();
    slot.begun = 0;
    slot.now = slot.end = 0;
    if (!block) return;
    slot.block = *block;
    for (const Access& access : slot.block) slot.end = std::max(slot.end, access.last + 1);
  }

  // One move of the block: tiles of a run are spread evenly over its time.
  void step(Slot& slot, int near) {
    for (std::size_t i = 0; i < slot.walks.size();) {
      Walk& walk = slot.walks[i];
      const std::int64_t span = walk.access->last - walk.access->first;
      walk.credit += walk.access->tiles - 1;
      if (walk.credit >= span) walk.credit -= span, use_next(walk, near);
      if (walk.k == walk.access->tiles)
        walk = slot.walks.back(), slot.walks.pop_back();
      else
        ++i;
    }
    for (; slot.begun < slot.block.size() && slot.block[slot.begun].first <= slot.now; ++slot.begun) {
      const Access& access = slot.block[slot.begun];
      Cut& cut = cut_of(access.tensor);
      const Head head =
          cut.tensor.heads == run_.problem.heads_total() ? access.head : run_.problem.kv_head_of(access.head);
      if (access.rows.end > cut.tensor.rows || access.cols.end > cut.tensor.cols || head >= cut.tensor.heads) continue;
      const bool aligned =
          access.tile == cut.tile && access.rows.begin % cut.tile.rows == 0 && access.cols.begin % cut.tile.cols == 0;
      Walk walk{&cut, &access, head, aligned};
      use_next(walk, near);
      if (walk.k < access.tiles) slot.walks.push_back(walk);
    }
    ++slot.now;
  }

  void use_next(Walk& walk, int near) {
    const Access& access = *walk.access;
    const std::int64_t k = access.descending ? access.tiles - 1 - walk.k : walk.k;
    ++walk.k;
    // Unsigned numbers of 32 bits: rows and columns are ints, and this is where the time goes.
    const auto first_row =
        static_cast<std::uint32_t>(access.rows.begin + (access.along_cols ? 0 : k * access.tile.rows));
    const auto first_col =
        static_cast<std::uint32_t>(access.cols.begin + (access.along_cols ? k * access.tile.cols : 0));
    const auto height = static_cast<std::uint32_t>(walk.cut->tile.rows);
    const auto width = static_cast<std::uint32_t>(walk.cut->tile.cols);
    if (walk.aligned) {
      use(walk, first_row / height, first_col / width, near);
      return;
    }
    // A tile of the cut belongs to whoever uses its first number.
    const std::int64_t end_row = std::min<std::int64_t>(first_row + access.tile.rows, access.rows.end);
    const std::int64_t end_col = std::min<std::int64_t>(first_col + access.tile.cols, access.cols.end);
    for (std::int64_t r = (first_row + height - 1) / height; r * height < end_row; ++r)
      for (std::int64_t c = (first_col + width - 1) / width; c * width < end_col; ++c) use(walk, r, c, near);
  }

  void use(const Walk& walk, std::int64_t row, std::int64_t col, int near) {
    Cut& cut = *walk.cut;
    const std::int64_t tile = cut.index(walk.head, row, col), bytes = cut.bytes(row, col);
    const L2::Dram dram = walk.access->op == Op::load     ? l2_.read(cut.used, tile, bytes, near)
                          : walk.access->op == Op::reduce ? l2_.reduce(cut.used, tile, bytes)
                                                          : l2_.write(cut.used, tile, bytes);
    if (walk.access->op != Op::load) cut.holds = walk.access->tensor;
    L2::Dram& moved = moved_[at(walk.access->tensor)];
    moved.read += dram.read, moved.written += dram.written;
    dram_.read += dram.read, dram_.written += dram.written;
  }

  // Cuts a tensor as this launch does. A new tile was last used when the old tile under its first number was.
  void recut(Cut& cut, TileShape tile) {
    const auto tiles = [&](TileShape t) {
      return checked_multiply(cut.tensor.heads, ceil_div(cut.tensor.rows, t.rows) * ceil_div(cut.tensor.cols, t.cols));
    };
    while (tiles(tile) > most_tiles && (tile.rows < cut.tensor.rows || tile.cols < cut.tensor.cols)) {
      if (tile.rows < cut.tensor.rows && (tile.rows <= tile.cols || tile.cols >= cut.tensor.cols))
        tile.rows = 2 * tile.rows;
      else
        tile.cols = 2 * tile.cols;
    }
    if (tile == cut.tile) return;
    Cut next = cut;
    next.tile = tile;
    next.rows = ceil_div(cut.tensor.rows, tile.rows), next.cols = ceil_div(cut.tensor.cols, tile.cols);
    next.used = L2::Tiles(next.count(), l2_.partitions());
    each(cut, [&](std::int64_t old, std::int64_t bytes) { l2_.forget(cut.used, old, bytes); });
    for (Head head = 0; head < cut.tensor.heads && cut.count() > 0; ++head)
      for (std::int64_t row = 0; row < next.rows; ++row)
        for (std::int64_t col = 0; col < next.cols; ++col)
          l2_.inherit(cut.used, cut.index(head, row * tile.rows / cut.tile.rows, col * tile.cols / cut.tile.cols),
                      next.used, next.index(head, row, col), next.bytes(row, col));
    cut = std::move(next);
  }

  // At the end of a launch: what it, or one before it, wrote and L2 has not kept.
  void evict(Cut& cut) {
    double written = 0;
    each(cut, [&](std::int64_t tile, std::int64_t bytes) { written += l2_.evicted(cut.used, tile, bytes); });
    if (written > 0) moved_[at(cut.holds)].written += written;
    dram_.written += written;
  }

  double dirty_bytes(const Cut& cut) const {
    double dirty = 0;
    each(cut, [&](std::int64_t tile, std::int64_t bytes) { dirty += l2_.dirty(cut.used, tile, bytes); });
    return dirty;
  }

  template <class Body>
  static void each(const Cut& cut, Body body) {
    if (cut.count() == 0) return;
    for (Head head = 0; head < cut.tensor.heads; ++head)
      for (std::int64_t row = 0; row < cut.rows; ++row)
        for (std::int64_t col = 0; col < cut.cols; ++col) body(cut.index(head, row, col), cut.bytes(row, col));
  }

  const Run& run_;
  L2 l2_;
  std::array<Cut, tensor_count> cuts_;
  std::array<int, tensor_count> place_{};       // of a tensor: which cut
  std::array<L2::Dram, tensor_count> moved_{};  // by tensor
  L2::Dram dram_;                               // of this launch
};

}  // namespace

std::optional<DramTraffic> dram_traffic(const Run& run) {
  if (run.detail == Detail::layout) return std::nullopt;
  if (run.hardware.l2 <= Bytes(0) || run.hardware.l2_partitions < 1 || run.hardware.sms < 1) return std::nullopt;
  return Player(run).play();
}

}  // namespace fa

#include "sim/analysis/l2.h"

#include <algorithm>
#include <cmath>

namespace fa {
namespace {

// The only fitted number of the model. A perfect cache of least-recent use would keep a line until exactly one capacity
// of other bytes has been used, and then lose it; hashed sets of few ways blur that edge. Fitted on three rows of
// the sweep data/h200_l2_sweep_cudnn.csv (one H200; KV of 17, 25 and 34 MB).
constexpr double edge_width = 0.10;  // standard deviation, in capacities

constexpr int epochs_per_capacity = 64;
constexpr double consulted = 0.01;  // a read that misses near this often also renews the line's home

}  // namespace

double chance_gone(double used_since) {
  if (used_since < 1 - 5 * edge_width) return 0;
  if (used_since > 1 + 5 * edge_width) return 1;
  return 0.5 * std::erfc((1 - used_since) / (edge_width * std::sqrt(2.0)));
}

L2::L2(Bytes capacity, int partitions)
    : partitions_(partitions), capacity_(static_cast<double>(capacity.count()) / partitions) {
  parts_.resize(static_cast<std::size_t>(partitions));
}

L2::Tiles::Tiles(std::int64_t count, int partitions)
    : used_(static_cast<std::size_t>(count * partitions * partitions), -1),
      dirty_(static_cast<std::size_t>(count * partitions), 0.0f) {}

std::size_t L2::place(std::int64_t tile, int near, int home) const {
  return static_cast<std::size_t>((tile * partitions_ + near) * partitions_ + home);
}

void L2::count(int partition, Epoch epoch, std::int64_t bytes) {
  Partition& part = parts_[static_cast<std::size_t>(partition)];
  if (epoch < part.horizon) return;
  const auto at = static_cast<std::size_t>(epoch);
  if (at >= part.by_epoch.size()) {
    part.by_epoch.resize(at + 1), part.gone.resize(at + 1), part.asked.resize(at + 1, -1);
    part.by_64.resize(at / 64 + 1);
  }
  part.by_epoch[at] += bytes;
  part.by_64[at / 64] += bytes;
}

double L2::gone(int partition, Epoch epoch) {
  Partition& part = parts_[static_cast<std::size_t>(partition)];
  if (epoch < part.horizon) return 1;
  const auto at = static_cast<std::size_t>(epoch);
  if (part.asked[at] == now_) return part.gone[at];
  // Half of its own epoch, on average, and all later ones.
  double since = 0.5 * static_cast<double>(part.by_epoch[at]);
  std::size_t e = at + 1;
  for (; e < part.by_epoch.size() && e % 64 != 0; ++e) since += static_cast<double>(part.by_epoch[e]);
  for (; e < part.by_epoch.size(); e += 64) since += static_cast<double>(part.by_64[e / 64]);
  part.asked[at] = now_;
  part.gone[at] = static_cast<float>(chance_gone(since / capacity_));
  if (part.gone[at] == 1) part.horizon = epoch + 1;
  return part.gone[at];
}

void L2::use(int partition, Epoch& epoch, std::int64_t bytes) {
  if (epoch >= 0) count(partition, epoch, -bytes);
  epoch = now_;
  count(partition, now_, bytes);
  used_now_ += bytes;
  if (static_cast<double>(used_now_) * epochs_per_capacity < capacity_ * partitions_) return;
  ++now_;
  used_now_ = 0;
}

L2::Dram L2::read(Tiles& tiles, std::int64_t tile, std::int64_t bytes, int near) {
  const std::int64_t share = bytes / partitions_;
  const double moved = static_cast<double>(bytes) / partitions_;
  Dram dram;
  for (int home = 0; home < partitions_; ++home) {
    Epoch& here = used(tiles, tile, near, home);
    if (here == now_) continue;
    double miss = gone(near, here);
    use(near, here, share);
    // Both copies were last used in much the same way, so they are gone together rather than independently.
    Epoch& at_home = used(tiles, tile, home, home);
    if (home != near && miss > consulted) {
      miss = std::min(miss, at_home == now_ ? 0.0 : gone(home, at_home));
      use(home, at_home, share);
    }
    if (home != near && miss == 0) continue;
    dram.read += miss * moved;
    float& dirty = tiles.dirty_[static_cast<std::size_t>(tile * partitions_ + home)];
    dram.written += miss * dirty * moved;
    dirty *= static_cast<float>(1 - miss);
  }
  return dram;
}

L2::Dram L2::write_home(Tiles& tiles, std::int64_t tile, std::int64_t bytes, bool fill) {
  const std::int64_t share = bytes / partitions_;
  Dram dram;
  for (int home = 0; home < partitions_; ++home) {
    Epoch& at_home = used(tiles, tile, home, home);
    float& dirty = tiles.dirty_[static_cast<std::size_t>(tile * partitions_ + home)];
    if (at_home != now_) {
      const double miss = gone(home, at_home) * static_cast<double>(bytes) / partitions_;
      if (fill) dram.read += miss;
      dram.written += miss * dirty;
      use(home, at_home, share);
    }
    dirty = 1;
    // Copies elsewhere are stale. They keep their places until they are pushed out: with those free at once, flash1's
    // temporaries, read and written in every pass, would miss half as often as on an H200.
    for (int near = 0; near < partitions_; ++near)
      if (near != home) used(tiles, tile, near, home) = -1;
  }
  return dram;
}

L2::Dram L2::write(Tiles& tiles, std::int64_t tile, std::int64_t bytes) {
  return write_home(tiles, tile, bytes, false);
}

L2::Dram L2::reduce(Tiles& tiles, std::int64_t tile, std::int64_t bytes) {
  return write_home(tiles, tile, bytes, true);
}

double L2::evicted(Tiles& tiles, std::int64_t tile, std::int64_t bytes) {
  double sum = 0;
  for (int home = 0; home < partitions_; ++home) {
    float& dirty = tiles.dirty_[static_cast<std::size_t>(tile * partitions_ + home)];
    if (dirty == 0) continue;
    const double miss = gone(home, used(tiles, tile, home, home));
    sum += miss * dirty * static_cast<double>(bytes) / partitions_;
    dirty *= static_cast<float>(1 - miss);
  }
  return sum;
}

double L2::dirty(const Tiles& tiles, std::int64_t tile, std::int64_t bytes) const {
  double sum = 0;
  for (int home = 0; home < partitions_; ++home)
    sum += tiles.dirty_[static_cast<std::size_t>(tile * partitions_ + home)] * static_cast<double>(bytes) / partitions_;
  return sum;
}

void L2::forget(Tiles& tiles, std::int64_t tile, std::int64_t bytes) {
  for (int near = 0; near < partitions_; ++near)
    for (int home = 0; home < partitions_; ++home)
      if (const Epoch epoch = used(tiles, tile, near, home); epoch >= 0) count(near, epoch, -(bytes / partitions_));
}

void L2::inherit(const Tiles& from, std::int64_t from_tile, Tiles& to, std::int64_t to_tile, std::int64_t bytes) {
  for (int near = 0; near < partitions_; ++near)
    for (int home = 0; home < partitions_; ++home) {
      const Epoch epoch = from.used_[place(from_tile, near, home)];
      used(to, to_tile, near, home) = epoch;
      if (epoch >= 0) count(near, epoch, bytes / partitions_);
    }
  for (int home = 0; home < partitions_; ++home)
    to.dirty_[static_cast<std::size_t>(to_tile * partitions_ + home)] =
        from.dirty_[static_cast<std::size_t>(from_tile * partitions_ + home)];
}

}  // namespace fa

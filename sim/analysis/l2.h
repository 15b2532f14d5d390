#pragma once
// An L2 of several partitions, as a stack of tiles ordered by their last use: what does it cost to use one again?
//
//        SMs of half the GPU          SMs of the other half
//               │ near                       │ near
//        ┌──────┴──────┐    fabric    ┌──────┴──────┐
//        │ partition 0 ├──────────────┤ partition 1 │     every line has a home, half of them in each
//        └──────┬──────┘              └──────┬──────┘
//             DRAM                         DRAM
//
// A read looks in the near partition; failing that in the line's home; failing that in DRAM. It then stands in both. So data
// that all SMs share takes its size in every partition, and only one partition's capacity counts. A write goes
// home, needs no fill, and reaches DRAM when its line must make room; copies of it go stale where they stand. Reads of one tile by several SMs at about the
// same time merge: the first one pays.

#include <cstdint>
#include <vector>

#include "sim/core/units.h"

namespace fa {

// Chance that a line is gone when `used_since` times the partition's capacity of other bytes have been used since.
double chance_gone(double used_since);

class L2 {
 public:
  using Epoch = std::int32_t;  // a stretch of time in which 1/64 of the capacity is used; what is used in one, merges

  L2(Bytes capacity, int partitions);

  int partitions() const { return partitions_; }

  // Expected bytes between L2 and DRAM.
  struct Dram {
    double read = 0, written = 0;
  };

  // The last use of every tile of a tensor, in each place where a copy of it may stand.
  class Tiles {
   public:
    Tiles() = default;
    Tiles(std::int64_t count, int partitions);

   private:
    friend class L2;
    std::vector<Epoch> used_;   // count × near partition × home of the line; never: −1
    std::vector<float> dirty_;  // count × home: the part of it that DRAM does not have yet
  };

  // A block beside partition `near` uses a tile of so many bytes; 1/partitions of its lines have their home in each.
  Dram read(Tiles& tiles, std::int64_t tile, std::int64_t bytes, int near);
  Dram write(Tiles& tiles, std::int64_t tile, std::int64_t bytes);
  Dram reduce(Tiles& tiles, std::int64_t tile, std::int64_t bytes);  // adds to what is there: a fill, if it is gone

  // Of a tile that was written: the bytes that have had to make room since they were last counted, and those that DRAM
  // does not have yet.
  double evicted(Tiles& tiles, std::int64_t tile, std::int64_t bytes);
  double dirty(const Tiles& tiles, std::int64_t tile, std::int64_t bytes) const;

  // A launch may cut a tensor otherwise: tile `to` of the new tiles stands where tile `from` of the old ones stood.
  void forget(Tiles& tiles, std::int64_t tile, std::int64_t bytes);
  void inherit(const Tiles& from, std::int64_t from_tile, Tiles& to, std::int64_t to_tile, std::int64_t bytes);

 private:
  // One partition: bytes by the epoch in which they were last used.
  struct Partition {
    std::vector<std::int64_t> by_epoch, by_64;  // and sums over 64 epochs
    std::vector<Epoch> asked;                   // when `gone` of that epoch was worked out
    std::vector<float> gone;
    Epoch horizon = 0;  // what was last used before it is gone for certain, and not counted any more
  };

  std::size_t place(std::int64_t tile, int near, int home) const;  // in Tiles::used_
  Epoch& used(Tiles& tiles, std::int64_t tile, int near, int home) const {
    return tiles.used_[place(tile, near, home)];
  }
  double gone(int partition, Epoch epoch);
  void use(int partition, Epoch& epoch, std::int64_t bytes);
  void count(int partition, Epoch epoch, std::int64_t bytes);
  Dram write_home(Tiles& tiles, std::int64_t tile, std::int64_t bytes, bool fill);

  int partitions_;
  double capacity_;  // of one partition, bytes
  Epoch now_ = 0;
  std::int64_t used_now_ = 0;  // bytes used in this epoch, in all partitions
  std::vector<Partition> parts_;
};

}  // namespace fa

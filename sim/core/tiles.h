#pragma once
// Rows, and cut(n, step): the tiles of [0, n), the ragged last one included.

#include <algorithm>
#include <cstdint>

namespace fa {

// A half-open range of rows (or columns) [begin, end) of a tensor.
struct Rows {
  int begin = 0;
  int end = 0;

  constexpr int size() const { return end - begin; }
  constexpr bool empty() const { return end <= begin; }
  friend constexpr bool operator==(Rows a, Rows b) { return a.begin == b.begin && a.end == b.end; }
  friend constexpr bool operator!=(Rows a, Rows b) { return !(a == b); }
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The tiles [first, last) of a cut axis, made on the fly: n = 1M costs no memory.
class Tiles {
 public:
  constexpr Tiles(int n, int step) : Tiles(n, step, 0, static_cast<int>(ceil_div(n, step))) {}
  constexpr Tiles(int n, int step, int first, int last) : n_(n), step_(step), first_(first), last_(last) {}

  class Iterator {
   public:
    constexpr Iterator(const Tiles* tiles, int index) : tiles_(tiles), index_(index) {}
    constexpr Rows operator*() const { return tiles_->at(index_); }
    constexpr Iterator& operator++() { return ++index_, *this; }
    constexpr bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Tiles* tiles_;
    int index_;
  };

  constexpr Iterator begin() const { return {this, first_}; }
  constexpr Iterator end() const { return {this, std::max(first_, last_)}; }
  constexpr int size() const { return std::max(0, last_ - first_); }
  constexpr bool empty() const { return size() == 0; }
  constexpr int step() const { return step_; }

  // Tile `index` of the whole axis (not of this selection).
  constexpr Rows at(int index) const {
    const auto begin = static_cast<std::int64_t>(index) * step_;  // 64 bits: the last tile may pass 2^31
    return {static_cast<int>(begin), static_cast<int>(std::min<std::int64_t>(begin + step_, n_))};
  }

  // The same axis, tiles [0, count) only; or those from `index` on.
  constexpr Tiles first(int count) const { return {n_, step_, first_, std::min(last_, count)}; }
  constexpr Tiles from(int index) const { return {n_, step_, std::max(first_, index), last_}; }

 private:
  int n_, step_, first_, last_;
};

constexpr Tiles cut(int n, int step) { return {n, step}; }

}  // namespace fa

#pragma once
// Heads: which of the batch × heads query heads a grid or a loop goes through.

#include <cstdint>

namespace fa {

using Head = std::int64_t;  // index into batch × heads, batch outermost

// first, first + step … below end.
class Heads {
 public:
  constexpr Heads(Head end) : Heads(0, end, 1) {}  // NOLINT: a number of heads is all of them
  constexpr Heads(Head first, Head end, Head step) : first_(first), end_(end), step_(step) {}

  class Iterator {
   public:
    constexpr Iterator(Head head, Head step) : head_(head), step_(step) {}
    constexpr Head operator*() const { return head_; }
    constexpr Iterator& operator++() { return head_ += step_, *this; }
    constexpr bool operator!=(const Iterator& other) const { return head_ < other.head_; }

   private:
    Head head_, step_;
  };

  constexpr Iterator begin() const { return {first_, step_}; }
  constexpr Iterator end() const { return {end_, step_}; }
  constexpr Head first() const { return first_; }
  constexpr Head at(std::int64_t k) const { return first_ + k * step_; }
  constexpr std::int64_t size() const { return end_ <= first_ ? 0 : (end_ - first_ + step_ - 1) / step_; }

 private:
  Head first_, end_, step_;
};

}  // namespace fa

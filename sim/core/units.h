#pragma once
// Counts that do not mix: a number of bytes is not a number of operations.
//
// 64-bit signed, explicit to make. Sums and multiples of one unit keep it, the ratio of two is a plain double.
// Overflow is caught and thrown, because a wrapped count would be a lie that looks like a number.

#include <cstdint>
#include <stdexcept>

namespace fa {

struct OverflowError : std::overflow_error {
  OverflowError() : std::overflow_error("this problem is too large: a count exceeds 64 bits; use smaller sizes") {}
};

constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw OverflowError();
  return sum;
}

constexpr std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw OverflowError();
  return product;
}

template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}

  constexpr std::int64_t count() const { return count_; }

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(checked_add(a.count_, b.count_)); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(checked_add(a.count_, -b.count_)); }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(checked_multiply(a.count_, n)); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return a * n; }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.count_) / static_cast<double>(b.count_);
  }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Quantity a, Quantity b) { return a.count_ != b.count_; }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.count_ < b.count_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.count_ > b.count_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.count_ <= b.count_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.count_ >= b.count_; }

 private:
  std::int64_t count_ = 0;
};

using Bytes = Quantity<struct BytesUnit>;
using Flops = Quantity<struct FlopsUnit>;  // one multiply-add is two

}  // namespace fa

#pragma once
// Seeded inputs for attention, the same on every machine and compiler.

#include <cmath>
#include <cstdint>

namespace fa {

// SplitMix64 (Steele, Lea, Flood, 2014) and Box–Muller: the standard library's distributions differ between vendors.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }  // both ends included
  bool chance(double p) { return uniform() < p; }

  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * uniform());
  }

  // One number of an attention operand: shifted off zero mean, so that relative error means something, with rare
  // outliers, without which softmax is nearly uniform and hides mistakes.
  float operand() {
    const double value = 0.1 + normal();
    return static_cast<float>(chance(0.001) ? 8.0 * value : value);
  }

 private:
  std::uint64_t state_;
};

}  // namespace fa

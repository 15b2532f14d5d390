#pragma once
// What an event costs the SM: which unit does it, for how many cycles at its full rate, and how long the result takes
// to be seen. Peaks come from the GPU's description, the rest from timeline_constants.h.

#include <array>
#include <string_view>

#include "sim/record/run.h"

namespace fa {

enum class Unit : signed char {
  copy,    // HBM → SRAM: the copy engine, at the rate of the SM's port to L2 or of its share of DRAM
  tensor,  // matrix products; a product is as slow as its SRAM operands
  vector,  // exponentials (MUFU) and element-wise work (ALU, FMA): one warp scheduler after another, all four alike
  store,   // SRAM or registers → HBM
};
inline constexpr int unit_count = 4;
inline constexpr std::array<std::string_view, unit_count> unit_names{"copy", "tensor", "vector", "store"};
constexpr int index_of(Unit unit) { return static_cast<int>(unit); }
constexpr std::string_view name_of(Unit unit) { return unit_names[static_cast<std::size_t>(unit)]; }

struct Cost {
  Unit unit = Unit::vector;
  double cycles = 0;          // at the unit's full rate
  double latency = 0;         // from the end of the work until it is seen
  bool asynchronous = false;  // the lane goes on at once
};

class Costs {
 public:
  // Throws InputError if the run's GPU has no figure for a rate that is needed.
  Costs(const Run& run, const Launch& launch);

  Cost of(const Event& event) const;

 private:
  Cost load(const Event& event) const;
  Cost product(const Event& event) const;
  double vector_cycles(const Event& event) const;
  double numbers(BufferId buffer) const;  // whole tiles, as the hardware works

  const Hardware& hardware_;
  const Launch& launch_;
  Element element_;
  double tensor_flops_per_clk_, dram_bytes_per_clk_;  // of one SM
  std::array<double, tensor_count> dram_share_{};     // of the bytes that are requested: what DRAM must give at least
};

}  // namespace fa

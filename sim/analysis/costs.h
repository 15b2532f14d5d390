#pragma once
// What an event costs the SM: which unit does it, for how many cycles at its full rate, and how long the result takes
// to be seen. Peaks come from the GPU's description, the rest from timeline_constants.h.

#include <array>
#include <string_view>

#include "sim/analysis/cache.h"
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

// What warps that run side by side take from each other, whatever unit they are at. Each is one cycle per cycle.
struct Needs {
  double issue = 0;  // of the schedulers: tensor core and issue slots, since mma.sync leaves the rest few
  double mufu = 0;   // of the exponential pipes
  double sram = 0;   // of the SRAM's port

  static constexpr int count = 3;
  constexpr double operator[](int i) const { return i == 0 ? issue : i == 1 ? mufu : sram; }
};

struct Cost {
  Unit unit = Unit::vector;
  double cycles = 0;          // at the unit's full rate
  double latency = 0;         // from the end of the work until it is seen
  bool asynchronous = false;  // the lane goes on at once
  Needs needs{};              // of these cycles; of warps without roles only
  double own = 0;             // cycles that its instructions take a warp on its own
  double beside = 1;          // of a wgmma product: its pace beside vector work, whose instructions get in its way
  // Of vector work: what one warpgroup reaches of the unit's rate, alone and beside products.
  double pace = 1, pace_beside = 1;
};

// What memory gives one SM, when `sms` of them ask at once.
class MemoryRates {
 public:
  // `dram`: what the launch asks of DRAM; if it is not known, what is compulsory.
  MemoryRates(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, double dram_efficiency,
              double l2_bytes_per_clk, double sms);

  // Cycles that an event keeps the SM's way to L2, and its share of DRAM, busy.
  double l2_cycles(const Event& event) const;
  double dram_cycles(const Event& event) const;
  double read_latency(const Event& event, double miss) const;

 private:
  double lines(const Event& event) const;  // of 128 bytes
  double share_of(const Event& event) const { return dram_share_[static_cast<std::size_t>(index_of(event.tensor))]; }

  const Hardware& hardware_;
  double l2_bytes_per_clk_, dram_bytes_per_clk_;        // of one SM
  std::array<double, tensor_count> dram_share_{};       // of the bytes that are requested: what DRAM must give
  std::array<std::int64_t, tensor_count> row_bytes_{};  // of tensors with more than one column
  double written_share_ = 0;                            // of the bytes that are sent: what DRAM takes meanwhile
};

// Warpgroups with roles: each event is one unit's.
class RoleCosts {
 public:
  RoleCosts(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, double sms);
  Cost of(const Event& event) const;

 private:
  Cost product(const Event& event) const;
  Cost eight_bit_vector(const Event& event) const;
  double vector_cycles(const Event& event) const;
  double numbers(BufferId buffer) const;  // whole tiles, as the hardware works

  const Hardware& hardware_;
  const Launch& launch_;
  Element element_;
  bool lazy_;
  bool eight_bits_;  // our kernel in 8 bits, which takes no maximum of most tiles
  bool o_from_registers_;
  double scores_;  // of a consumer's tile
  double tensor_flops_per_clk_;
  MemoryRates memory_;
};

// Throws InputError if the run's GPU has no figure for a rate that a model of time needs.
void require_rates(const Hardware& hardware, Element element);
double tensor_peak(const Hardware& hardware, Element element);  // flops per clock and SM

}  // namespace fa

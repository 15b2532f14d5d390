#pragma once
// The roofline: what a run asks of each unit and level, against the GPU's peaks. A bound, not a time: it assumes that all
// of them work at their peak, at the boost clock, and at once.

#include <string_view>
#include <vector>

#include "sim/analysis/cache.h"
#include "sim/record/run.h"

namespace fa {

// One ceiling. A level of memory is a slanted roof (flop/s ≤ intensity · bandwidth), a unit a flat one.
struct Roof {
  std::string_view name;     // "matmul", "exponentials", "SRAM", "L2", "DRAM"
  bool memory = false;       // a level of memory: `work` is bytes both ways
  double work = 0;           // flop, exponentials or bytes
  double per_second = 0;     // the GPU's peak of the same
  double intensity = 0;      // matmul flop for each unit of work; of DRAM: the arithmetic intensity of the papers
  double flops_allowed = 0;  // matmul flop/s if only this limited
  double seconds = 0;        // work / per_second
};

struct Roofline {
  std::vector<Roof> roofs;      // those whose peak is known
  std::size_t binding = 0;      // of them: the lowest, which takes longest
  double flops_per_second = 0;  // matmul flop/s under the binding roof
  double of_peak = 0;           // the same as a part of the matmul roof, 0 … 1; 1: compute bound

  const Roof& lowest() const { return roofs[binding]; }
};

// What there is to do; 0 leaves a roof out.
struct Work {
  double flops = 0, exponentials = 0;
  double sram = 0, l2 = 0, dram = 0;  // bytes both ways
};
Roofline roofline(const Work& work, Element element, const Hardware& hardware);

// Of a run; without `dram`, DRAM has no roof.
Work work_of(const Run& run, const DramTraffic* dram);

// Flop of the matrix products that a query and the keys it sees need: 4 · d for each pair, 10 · d in a backward. Programs
// do more: whole tiles, and what a mask hides within them.
double needed_flops(const Problem& problem, Pass pass);

}  // namespace fa

#include "sim/analysis/footprint.h"

namespace fa {

Footprint footprint(const Run& run) {
  Footprint result;
  for (const Allocation& allocation : run.allocations) {
    switch (allocation.tensor) {
      case Tensor::Q:
      case Tensor::K:
      case Tensor::V:
      case Tensor::O:
      case Tensor::dO:
      case Tensor::dQ:
      case Tensor::dK:
      case Tensor::dV: result.operands += allocation.memory(); break;
      default: result.extra += allocation.memory();
    }
  }
  return result;
}

}  // namespace fa

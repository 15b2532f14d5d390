#include "sim/analysis/bounds.h"

#include <algorithm>
#include <cmath>

namespace fa {

Bounds bounds(const Problem& p, const Hardware& hardware) {
  const double n = std::max(p.n_q, p.n_kv), d = p.d, pairs = static_cast<double>(p.n_q) * p.n_kv;
  Bounds b;
  b.sram_elements = static_cast<double>(hardware.sram_per_block.count()) / size_of(p.element);
  b.standard = n * d + pairs;
  b.flash = pairs * d * d / b.sram_elements;
  b.large_sram = b.sram_elements >= d * d;
  b.lower = b.large_sram ? b.flash : pairs * d / std::sqrt(b.sram_elements);
  b.in_range = d <= b.sram_elements && b.sram_elements <= n * d;
  return b;
}

}  // namespace fa

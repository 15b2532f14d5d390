#pragma once
// In which order the blocks of flash2's backward start, read by the kernel's launcher and by the simulator.
//
// A block has one tile of keys of one key head. Without a mask they start head after head. Under a causal mask a head's
// first tile takes longest, as all queries see it, and the last head's would run on while other SMs have nothing left. So
// key heads come in sections, all first tiles of a section first, then all second ones.

#include <cstdint>

#include "sim/config/problem.h"
#include "sim/config/tiling.h"

namespace fa {

// Key heads of a section: 2 to this. As many as divide the heads of a batch evenly and let what their blocks stream, Q, dO
// and dQ, fit half of an H200's L2, which its two partitions hold twice.
inline int log_section(const Tiling& tiling, const Problem& p) {
  constexpr std::int64_t fits = std::int64_t{32} << 20;
  const std::int64_t head_bytes =
      std::int64_t{tiling.width(p.d)} * p.n_q * p.group() * (2 * size_of(p.element) + size_of(Element::fp32));
  int log = 0;
  if (tiling.in_sections && p.causal)
    while ((2 * head_bytes << log) <= fits && p.kv_heads % (std::int64_t{2} << log) == 0) ++log;
  return log;
}

}  // namespace fa

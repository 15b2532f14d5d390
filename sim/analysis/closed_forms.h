#pragma once
// The bytes that a program must request, computed without running it (research: memory_model.md, section 2.2).
//
// They are written from the papers' loop structure, not from the simulator, and tests hold the two equal on thousands
// of random shapes. O(n / rows_q) time: 1M tokens take a millisecond.

#include <optional>
#include <string_view>

#include "sim/config/hardware.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"
#include "sim/record/counts.h"

namespace fa {

// Reads, writes and reductions by tensor; the other fields of Counts stay 0. Nothing if there is no closed form of that
// name.
std::optional<Counts> closed_form(std::string_view program, const Problem& problem, const Tiling& tiling,
                                  const Hardware& hardware, Pass pass = Pass::forward);

// The least that any program moves when caches are endless: Q, K, V (and dO) read once, O and LSE (or the gradients)
// written once. A backward could do without O and LSE: they can be computed again.
Counts compulsory(const Problem& problem, Pass pass = Pass::forward);

}  // namespace fa

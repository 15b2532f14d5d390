// The problems that each command runs when it is given no sizes.
#pragma once

#include <string>
#include <vector>

#include "kernels/tools/tensor.h"

namespace fa::kernels {

// One correctness case. `special` names what is unusual about its numbers.
struct Case {
  enum class Special { none, outliers, large_logits, tiny_scale, nan_in_q, nan_in_k, infinite_k };
  Problem problem;
  Layout layout = Layout::packed;
  Special special = Special::none;
};

// The official suites' shapes, tiles ± 1 of every kernel in `list`, empty problems, rows without keys, odd head
// dimensions, grouped heads, layouts and special numbers. `quick`: a few small ones that reach the same code.
std::vector<Case> check_cases(std::span<const Kernel> list, bool quick);

// The usual speed protocol: 16k tokens, hidden size 2048, n from 512 to 16k, causal or not.
std::vector<Problem> bench_problems();

// What is measured with hardware counters: n from 512 to 128k, masks, grouped heads, ragged sizes, 1 to 64 heads.
std::vector<Problem> measured_problems();

std::string describe(const Case& c);

}  // namespace fa::kernels

// The problems that each command runs when it is given no sizes.
#pragma once

#include <array>
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
  int scale_rows = 0;  // e4m3: keys that share a scale; 0: all scales are 1
};

// The official suites' shapes, tiles ± 1 of every kernel in `list`, empty problems, rows without keys, odd head
// dimensions, grouped heads, layouts and special numbers, in each of `elements`. `quick`: a few small ones that reach the
// same code.
std::vector<Case> check_cases(std::span<const Kernel> list, std::span<const Element> elements, bool quick);
inline constexpr std::array half_types{Element::bf16, Element::fp16};
inline constexpr std::array eight_bits{Element::e4m3};

// The usual speed protocol: 16k tokens, hidden size 2048, n from 512 to 16k, causal or not.
std::vector<Problem> bench_problems();

// What is measured with hardware counters: n from 512 to 128k, masks, grouped heads, ragged sizes, 1 to 64 heads.
std::vector<Problem> measured_problems();

std::string describe(const Case& c);

}  // namespace fa::kernels

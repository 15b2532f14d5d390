#pragma once
// How much any attention must move, from the papers: in numbers (elements), for one head, constants left out.

#include "sim/config/hardware.h"
#include "sim/config/problem.h"

namespace fa {

struct Bounds {
  double sram_elements = 0;  // M: what SRAM holds, in numbers of the problem's element type
  double standard = 0;       // Θ(n·d + n²)     FA-1 paper, Theorem 2: attention that stores S
  double flash = 0;          // Θ(n²·d² / M)    FA-1 paper, Theorem 2, for d ≤ M ≤ n·d
  double lower = 0;  // Saha & Ye, arXiv 2402.07443: n²·d² / M if M ≥ d², n²·d / √M below: no exact program does less
  bool large_sram = false;  // M ≥ d²: FlashAttention is optimal
  bool in_range = false;    // d ≤ M ≤ n·d, the range that the theorem is stated for
};

// n² stands for n_q · n_kv, n for the larger of the two.
Bounds bounds(const Problem& problem, const Hardware& hardware);

}  // namespace fa

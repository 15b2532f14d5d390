#pragma once
// The HBM traffic that the FlashAttention paper prints, and what one has to assume to count the same.
//
// The paper does not say how its figures were obtained. Each set of assumptions here is one that reproduces them.

#include <string_view>
#include <vector>

#include "sim/config/problem.h"
#include "sim/config/tiling.h"
#include "sim/record/counts.h"

namespace fa {

struct PaperFigure {
  std::string_view what;     // the paper's name for it
  std::string_view program;  // ours
  Tiling tiling;
  double printed_gb = 0;    // 1e9 bytes, forward and backward together
  Bytes forward, backward;  // by closed form, under the assumptions
  std::vector<std::string_view> assumptions;

  Bytes total() const { return forward + backward; }
};

// arXiv 2205.14135, Figure 2 (left): GPT-2 medium on an A100, forward and backward of one attention layer.
Problem paper_figure2_problem();
std::vector<PaperFigure> paper_figure2();

}  // namespace fa

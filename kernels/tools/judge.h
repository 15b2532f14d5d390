// One case, prepared once and put to any number of kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/tools/compare.h"
#include "kernels/tools/operands.h"
#include "kernels/tools/plain.h"
#include "kernels/tools/problems.h"

namespace fa::kernels {

// What one kernel did wrong on one case, as text, and its largest error in units of the tolerance.
struct Verdict {
  std::vector<std::string> complaints;
  double worst = 0;
};

class Judge {
 public:
  // Makes the operands, the truth in double, and what plain attention in the same precision makes of them.
  Judge(const Case& c, std::uint64_t seed);

  // Runs the kernel on poisoned outputs and a poisoned workspace: numbers against the rule, gaps untouched, and a
  // second run the same bit for bit (but dQ, which may be summed in any order).
  Verdict judge(const Kernel& kernel);

  // Not in 8 bits. NaN under a causal mask: 0 · NaN in tiles on the diagonal depends on the tile; only the forward pass
  // is defined.
  bool backward_is_defined() const;

 private:
  struct Output {
    std::string_view name;
    Tensor* tensor;
    const DeviceBuffer* truth;
    const DeviceBuffer* plain;
  };

  bool empty() const;
  std::vector<Output> outputs_of(Pass pass);
  void launch(const Kernel& kernel);
  void judge_numbers(const Kernel& kernel, const Output& output, Verdict& verdict) const;

  Case case_;
  Operands operands_;
  double scale_ = 0;
  Answer<double> truth_;
  Answer<float> plain_;
  DeviceBuffer tensor_core_lse_;  // in 8 bits only
};

}  // namespace fa::kernels

// Everything that one problem needs in device memory, as arguments for any kernel.
#pragma once

#include "kernels/tools/tensor.h"

namespace fa::kernels {

struct Operands {
  Operands(const Problem& problem, Layout layout, const Distribution& queries, const Distribution& keys,
           const Distribution& values);

  Args args(double scale) const;
  void make_workspace(const Kernel& kernel);  // poisoned, with a guard behind it
  bool workspace_guard_intact() const;
  void run_forward(const Device& device);  // o and lse, by the kernel that choose() takes

  Problem problem;
  Tensor q, k, v, o, d_out, dq, dk, dv;
  Tensor lse;  // [batch, heads, 1, n_q]: packed, as the kernels want it
  DeviceBuffer workspace;
};

}  // namespace fa::kernels

// Everything that one problem needs in device memory, as arguments for any kernel.
#pragma once

#include "kernels/tools/plain.h"
#include "kernels/tools/tensor.h"

namespace fa::kernels {

struct Operands {
  Operands(const Problem& problem, Layout layout, const Distribution& queries, const Distribution& keys,
           const Distribution& values);

  Args args(double scale) const;
  Inputs inputs(double scale, const Tensor* gradient) const;  // for the reference, which reads them where they lie
  // Random scales for q, k and v of e4m3: one for `rows` keys, and for Q at other borders.
  void make_scales(int rows, std::uint64_t seed);
  void make_workspace(const Kernel& kernel);  // poisoned, with a guard behind it
  bool workspace_guard_intact() const;
  void run_forward(const Device& device);  // o and lse, by the kernel that choose() takes

  Problem problem;
  Tensor q, k, v, o, d_out, dq, dk, dv;
  Tensor lse;  // [batch, heads, 1, n_q]: packed, as the kernels want it
  DeviceBuffer workspace;
  ScaleTable q_scales, k_scales, v_scales;
};

}  // namespace fa::kernels

// Attention the plain way, on the GPU: every step a whole matrix, every kernel a few lines. It is the truth that the
// published kernels are held against, and the measure of how far one may be from it:
//   reference  all in double;
//   plain      the same steps in fp32, with every matrix that a framework would store rounded to the element type. In
//              8 bits Q, K, V and P are e4m3, the others bf16.
#pragma once

#include "kernels/tools/cuda.h"
#include "kernels/tools/tensor.h"

namespace fa::kernels {

// Packed arrays on the device, [batch, heads, n, d] and [batch, heads, n_q]; the gradients only if asked for.
template <class T>
struct Answer {
  DeviceBuffer o, lse, dq, dk, dv;
};

struct Inputs {
  Problem problem;
  double scale = 0;
  const Tensor& q;
  const Tensor& k;
  const Tensor& v;
  const Tensor* d_out = nullptr;  // null: forward only
  Scales q_scales = {}, k_scales = {}, v_scales = {};
};

Answer<double> reference_attention(const Inputs& inputs);
Answer<float> plain_attention(const Inputs& inputs);
// LSE in double, of e4m3 scores as Hopper's tensor cores sum them, to about 14 bits: what no kernel that uses them can know
// better. Packed [batch, heads, n_q].
DeviceBuffer tensor_core_lse(const Inputs& inputs);

}  // namespace fa::kernels

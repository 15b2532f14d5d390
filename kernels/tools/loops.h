// Attention in double by plain loops on the CPU, written from the definition: the GPU's reference is tested against it.
#pragma once

#include <vector>

#include "sim/sim.h"

namespace fa::kernels {

// [batch, heads, n, d] each, and [batch, heads, n_q] for lse.
struct HostTensors {
  std::vector<double> q, k, v, d_out;
  std::vector<double> o, lse, dq, dk, dv;
};

// Fills o and lse from q, k, v; and the gradients too if d_out is not empty.
void attention_by_loops(const Problem& problem, double scale, HostTensors& tensors);

}  // namespace fa::kernels

#include "kernels/launches.h"
#include "kernels/naive/backward.cuh"

namespace fa::kernels {

void naive_backward_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_naive_backward<__half, 64>(args);
  else
    launch_naive_backward<__nv_bfloat16, 64>(args);
}

}  // namespace fa::kernels

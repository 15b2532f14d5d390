#include "kernels/launches.h"
#include "kernels/naive/backward.cuh"

namespace fa::kernels {

void naive_backward_d128(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_naive_backward<__half, 128>(args);
  else
    launch_naive_backward<__nv_bfloat16, 128>(args);
}

}  // namespace fa::kernels

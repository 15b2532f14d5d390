#include "kernels/launches.h"
#include "kernels/naive/forward.cuh"

namespace fa::kernels {

void naive_forward_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_naive_forward<__half, 64>(args);
  else
    launch_naive_forward<__nv_bfloat16, 64>(args);
}

}  // namespace fa::kernels

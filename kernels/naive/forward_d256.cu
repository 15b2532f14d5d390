#include "kernels/launches.h"
#include "kernels/naive/forward.cuh"

namespace fa::kernels {

void naive_forward_d256(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_naive_forward<__half, 256>(args);
  else
    launch_naive_forward<__nv_bfloat16, 256>(args);
}

}  // namespace fa::kernels

#include "kernels/launches.h"
#include "kernels/naive/forward.cuh"

namespace fa::kernels {

void naive_forward_d128(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_naive_forward<__half, 128>(args);
  else
    launch_naive_forward<__nv_bfloat16, 128>(args);
}

}  // namespace fa::kernels

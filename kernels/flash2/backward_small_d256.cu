#include "kernels/flash2/backward.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash2_backward_small_d256(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash2_backward<Flash2BackwardSmall<__half, 256>>(args);
  else
    launch_flash2_backward<Flash2BackwardSmall<__nv_bfloat16, 256>>(args);
}

}  // namespace fa::kernels

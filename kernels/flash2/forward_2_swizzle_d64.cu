#include "kernels/flash2/forward_2_swizzle.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash2_swizzle_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash2_swizzle<Flash2Forward<__half, 64>>(args);
  else
    launch_flash2_swizzle<Flash2Forward<__nv_bfloat16, 64>>(args);
}

}  // namespace fa::kernels

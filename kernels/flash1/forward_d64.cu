#include "kernels/flash1/forward.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash1_forward_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash1_forward<Flash1<__half, 64>>(args);
  else
    launch_flash1_forward<Flash1<__nv_bfloat16, 64>>(args);
}

}  // namespace fa::kernels

#include "kernels/flash1/backward.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash1_backward_d128(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash1_backward<Flash1<__half, 128>>(args);
  else
    launch_flash1_backward<Flash1<__nv_bfloat16, 128>>(args);
}

}  // namespace fa::kernels

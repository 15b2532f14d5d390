#include "kernels/flash3/forward_3_pingpong.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash3_pingpong_d128(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash3_step<Flash3PingPong, Flash3Step3<__half, 128>>(args);
  else
    launch_flash3_step<Flash3PingPong, Flash3Step3<__nv_bfloat16, 128>>(args);
}

}  // namespace fa::kernels

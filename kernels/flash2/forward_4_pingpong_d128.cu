#include "kernels/flash2/forward_4_pingpong.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash2_pingpong_d128(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash2_pingpong<Flash2PingPong<__half, 128>>(args);
  else
    launch_flash2_pingpong<Flash2PingPong<__nv_bfloat16, 128>>(args);
}

}  // namespace fa::kernels

#include "kernels/flash2/forward_4_pingpong.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash2_pingpong_d256(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash2_pingpong<Flash2PingPong<__half, 256>>(args);
  else
    launch_flash2_pingpong<Flash2PingPong<__nv_bfloat16, 256>>(args);
}

}  // namespace fa::kernels

#include "kernels/flash3/forward_1_wgmma.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash3_wgmma_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash3_wgmma<Flash3Step1<__half, 64>>(args);
  else
    launch_flash3_wgmma<Flash3Step1<__nv_bfloat16, 64>>(args);
}

}  // namespace fa::kernels

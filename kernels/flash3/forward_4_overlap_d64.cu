#include "kernels/flash3/forward_4_overlap.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash3_overlap_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash3_step<Flash3Overlap, Flash3Step4<__half, 64>>(args);
  else
    launch_flash3_step<Flash3Overlap, Flash3Step4<__nv_bfloat16, 64>>(args);
}

}  // namespace fa::kernels

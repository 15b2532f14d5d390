#include "kernels/flash2/forward_1_baseline.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash2_baseline_d256(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash2_baseline<Flash2Forward<__half, 256>>(args);
  else
    launch_flash2_baseline<Flash2Forward<__nv_bfloat16, 256>>(args);
}

}  // namespace fa::kernels

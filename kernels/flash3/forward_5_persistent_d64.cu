#include "kernels/flash3/forward_5_persistent.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash3_persistent_d64(const Args& args) {
  if (args.problem.element == Element::fp16)
    launch_flash3_persistent<Flash3Forward<__half, 64>>(args);
  else
    launch_flash3_persistent<Flash3Forward<__nv_bfloat16, 64>>(args);
}

}  // namespace fa::kernels

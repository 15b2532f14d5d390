#include "kernels/flash3/forward_fp8.cuh"
#include "kernels/launches.h"

namespace fa::kernels {

void flash3_fp8_d64(const Args& args) { launch_flash3_fp8<Flash3Fp8<64>>(args); }

}  // namespace fa::kernels

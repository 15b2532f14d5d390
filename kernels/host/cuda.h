// CUDA's errors as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace fa::kernels {

// Throws with CUDA's own words if `status` is an error. `doing` completes "CUDA failed while …".
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorString(status));
}

}  // namespace fa::kernels

#include "kernels/attention.h"
#include "kernels/host/cuda.h"

namespace fa::kernels {

Device current_device() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    cudaGetLastError();
    throw std::runtime_error(std::string("no usable GPU: ") +
                             (status == cudaSuccess ? "CUDA lists no device" : cudaGetErrorString(status)) +
                             "; this command needs an NVIDIA GPU and its driver");
  }
  int index = 0;
  check(cudaGetDevice(&index), "asking for the current device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "reading the device's properties");
  return {
      .name = properties.name,
      .compute_capability = 10 * properties.major + properties.minor,
      .multiprocessors = properties.multiProcessorCount,
      .shared_memory_per_block = static_cast<int>(properties.sharedMemPerBlockOptin),
      .l2_bytes = properties.l2CacheSize,
      .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
  };
}

}  // namespace fa::kernels

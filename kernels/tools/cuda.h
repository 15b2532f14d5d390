// What the tools need of CUDA: errors as exceptions, memory and timers as values.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace fa::kernels {

// Throws with CUDA's own words if `status` is an error. `doing` completes "CUDA failed while …".
inline void must(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorString(status));
}

// Device memory, owned. It holds anything until it is written.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes != 0 && cudaMalloc(&data_, bytes) != cudaSuccess) {
      cudaGetLastError();  // the error is told here, so that the next call does not tell it again
      throw std::runtime_error("the GPU has no " + std::to_string(bytes >> 20) +
                               " MiB free: use smaller sizes, or free its memory");
    }
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(data_); }

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Two events around work on one stream.
class Timer {
 public:
  Timer() {
    must(cudaEventCreate(&start_), "creating an event");
    must(cudaEventCreate(&stop_), "creating an event");
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }

  void start(cudaStream_t stream) { must(cudaEventRecord(start_, stream), "recording an event"); }
  void stop(cudaStream_t stream) { must(cudaEventRecord(stop_, stream), "recording an event"); }
  float milliseconds() const {  // waits for the work
    float ms = 0;
    must(cudaEventSynchronize(stop_), "running a kernel");
    must(cudaEventElapsedTime(&ms, start_, stop_), "reading a time");
    return ms;
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace fa::kernels

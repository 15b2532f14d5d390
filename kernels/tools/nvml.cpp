#include "kernels/tools/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "kernels/tools/cuda.h"

namespace fa::kernels {
namespace {

// The library's C interface as its manual gives it. The toolkit need not have its header, so it is opened by name.
enum ClockDomain { sm_clock = 1, memory_clock = 2 };
using Handle = void*;

void* library() {
  static void* const opened = [] {
    void* const handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    auto* const initialise = handle == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(handle, "nvmlInit_v2"));
    return initialise != nullptr && initialise() == 0 ? handle : nullptr;
  }();
  return opened;
}

template <class Function>
Function* function(const char* name) {
  return library() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library(), name));
}

}  // namespace

std::optional<Clocks> current_clocks() {
  auto* const find = function<int(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
  auto* const read = function<int(Handle, int, unsigned*)>("nvmlDeviceGetClockInfo");
  if (find == nullptr || read == nullptr) return std::nullopt;

  int device = 0;
  char bus[32] = {};  // CUDA and this library count devices differently; the bus is the same for both
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess)
    return std::nullopt;
  Handle handle = nullptr;
  unsigned sm = 0, memory = 0;
  if (find(bus, &handle) != 0 || read(handle, sm_clock, &sm) != 0 || read(handle, memory_clock, &memory) != 0)
    return std::nullopt;
  return Clocks{static_cast<int>(sm), static_cast<int>(memory)};
}

std::string clocks_text() {
  const auto clocks = current_clocks();
  return clocks ? fmt::format("SM {} MHz, memory {} MHz", clocks->sm_mhz, clocks->memory_mhz)
                : "clocks unknown (no management library)";
}

std::string driver_version() {
  auto* const read = function<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  char text[96] = {};
  return read != nullptr && read(text, sizeof text) == 0 ? text : "unknown";
}

}  // namespace fa::kernels

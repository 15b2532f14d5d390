// What NVIDIA's management library says of the GPU. Clocks are read and never set.
#pragma once

#include <optional>
#include <string>

namespace fa::kernels {

struct Clocks {
  int sm_mhz = 0, memory_mhz = 0;
};

// Nothing if the driver did not bring the library.
std::optional<Clocks> current_clocks();
std::string clocks_text();     // "SM 1980 MHz, memory 3201 MHz", or that they are unknown
std::string driver_version();  // "580.159.04", or "unknown"

}  // namespace fa::kernels

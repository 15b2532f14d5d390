#pragma once
// What `fagpu measure` recorded on an H200 (assets/measurements), and the simulator's run of the same.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace fa::tests {

// Every pass of every kernel, of all files.
inline const std::vector<Measurement>& recorded() {
  static const std::vector<Measurement> all = [] {
    std::vector<std::string> paths;
    for (const auto& file : std::filesystem::directory_iterator(FA_SOURCE_DIR "/assets/measurements"))
      if (file.path().extension() == ".json") paths.push_back(file.path().string());
    std::sort(paths.begin(), paths.end());
    std::vector<Measurement> measurements;
    for (const std::string& path : paths)
      for (Measurement& m : read_measurements(path).measurements) measurements.push_back(std::move(m));
    return measurements;
  }();
  return all;
}

// With the kernel's own tiling.
inline Run simulated(const Measurement& m, Detail detail = Detail::totals) {
  static const Hardware h200 = hardware_named("h200");
  return run_of(m, h200, detail);
}

inline std::string describe(const Measurement& m) { return m.kernel + " " + m.pass + ", " + describe(m.problem); }

}  // namespace fa::tests

#pragma once
// What a real GPU did: hardware counters of real kernels, as `fagpu measure` wrote them. Never edited by hand.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/problem.h"
#include "sim/config/tiling.h"

namespace fa {

// One pass of one kernel on one problem. Counters carry the profiler's own names ("dram__bytes_read.sum").
struct Measurement {
  std::string kernel;   // "flash2"
  std::string program;  // the simulator's program that should move the same bytes
  std::string pass;     // "forward", "backward"
  int kernel_d = 0;     // head dimension that the kernel was compiled for; a smaller d is padded up to it
  Tiling tiling;
  Problem problem;
  std::map<std::string, double> counters;     // of everything that the pass launches, caches cold before
  std::map<std::string, double> after_flush;  // the same when L2 is written back inside the range, less the flush alone

  std::optional<double> counter(std::string_view name) const;
};

struct MeasurementFile {
  std::string device;  // "NVIDIA H200"
  std::string chip;    // the profiler's name: "GH100"
  std::string compute_capability;
  int multiprocessors = 0;
  double l2_bytes = 0;
  double memory_bytes = 0;
  std::string driver, cuda;
  std::string clocks;    // in words, before and after; clocks are read and never set
  std::string date;      // "2026-11-29"
  std::string protocol;  // how caches stood, what was repeated
  std::vector<Measurement> measurements;
};

// Throws InputError with one line that names the file and what is wrong with it.
MeasurementFile read_measurements(const std::string& path);
MeasurementFile measurements_from_json(const std::string& text, const std::string& name_for_errors);

std::string to_json(const MeasurementFile& file);
void write_measurements(const MeasurementFile& file, const std::string& path);

}  // namespace fa

#pragma once
// A GPU as the simulator sees it: capacities, rates and latencies, each with where the number comes from.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/units.h"

namespace fa {

// Peaks are per SM and clock. A rate or latency of 0 means that no figure is known.
struct Hardware {
  std::string id;    // "h200": the file's name in assets/hardware
  std::string name;  // "H200 SXM"
  std::string compute_capability;
  int sms = 0;
  double boost_clock_ghz = 0;
  Bytes sram_per_sm;
  Bytes sram_per_block;  // what one thread block may use: the capacity that tilings are checked against
  Bytes registers_per_sm;
  Bytes l2;
  int l2_partitions = 0;
  Bytes dram;
  double dram_gb_per_s = 0;  // 1e9 bytes each second
  int tensor_flops_per_clk_16bit = 0;
  int tensor_flops_per_clk_8bit = 0;
  int fp32_fma_per_clk = 0;
  int exp2_per_clk = 0;
  int sram_bytes_per_clk = 0;
  int l2_bytes_per_clk = 0;
  int max_warps = 0;
  double sram_latency_clk = 0;
  double l2_latency_clk = 0;
  double dram_latency_clk = 0;

  // "measured" or "datasheet" for every field above, by its name in the file; and the file's notes.
  std::map<std::string, std::string> sources, notes;

  friend bool operator==(const Hardware&, const Hardware&) = default;
};

// Reads a description. Throws InputError with one line that names the file, the field and what is wrong.
Hardware read_hardware(const std::filesystem::path& path);
Hardware hardware_from_json(std::string_view text, std::string_view source, std::string id);

// "h200", one of assets/hardware; or the path of a description of your own, which must end in .json.
Hardware hardware_named(std::string_view name);
std::vector<std::string> hardware_names();

}  // namespace fa

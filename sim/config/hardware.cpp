#include "sim/config/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/core/error.h"
#include "sim/core/files.h"

namespace fa {
namespace {

// Fields stand as {"value": …, "source": "measured" | "datasheet", "note": …}; null means that no figure is known.
class Fields {
 public:
  Fields(const nlohmann::json& json, std::string_view source, Hardware& hardware)
      : json_(json), source_(source), hardware_(hardware) {}

  void read(const char* key, std::string& to) {
    const nlohmann::json& value = field(key);
    if (!value.is_string()) fail(key, "must be a string");
    to = value.get<std::string>();
  }
  void read(const char* key, double& to, double low) {
    const nlohmann::json& value = field(key);
    if (value.is_null() && low == 0) return;
    if (!value.is_number() || !(value.get<double>() >= low) || value.get<double>() > 1e18)
      fail(key, low > 0 ? "must be a positive number" : "must be a number of at least 0, or null");
    to = value.get<double>();
  }
  void read(const char* key, int& to, double low) {
    double value = to;
    read(key, value, low);
    if (value > 1e9) fail(key, "is too large");
    to = static_cast<int>(value);
  }
  void read(const char* key, Bytes& to) {
    double value = 0;
    read(key, value, 1);
    to = Bytes(static_cast<std::int64_t>(value));
  }

 private:
  [[noreturn]] void fail(const char* key, const char* what) const {
    throw InputError(fmt::format("{}: \"{}\" {}.", source_, key, what));
  }
  const nlohmann::json& field(const char* key) {
    if (!json_.contains(key)) fail(key, "is missing");
    const nlohmann::json& entry = json_[key];
    if (!entry.is_object() || !entry.contains("value") || !entry.contains("source"))
      fail(key, "must be an object with value and source");
    if (entry["source"] != "measured" && entry["source"] != "datasheet")
      fail(key, "needs a source that is measured or datasheet");
    hardware_.sources[key] = entry["source"].get<std::string>();
    if (entry.contains("note") && entry["note"].is_string()) hardware_.notes[key] = entry["note"].get<std::string>();
    return entry["value"];
  }

  const nlohmann::json& json_;
  std::string_view source_;
  Hardware& hardware_;
};

}  // namespace

Hardware hardware_from_json(std::string_view text, std::string_view source, std::string id) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw InputError(fmt::format("{}: is not a JSON object that describes a GPU.", source));
  Hardware h;
  h.id = std::move(id);
  Fields in(json, source, h);
  in.read("name", h.name);
  in.read("compute_capability", h.compute_capability);
  in.read("sms", h.sms, 1);
  in.read("boost_clock_ghz", h.boost_clock_ghz, 1e-9);
  in.read("sram_per_sm_bytes", h.sram_per_sm);
  in.read("sram_per_block_bytes", h.sram_per_block);
  in.read("registers_per_sm_bytes", h.registers_per_sm);
  in.read("l2_bytes", h.l2);
  in.read("l2_partitions", h.l2_partitions, 1);
  in.read("dram_bytes", h.dram);
  in.read("dram_gb_per_s", h.dram_gb_per_s, 1e-9);
  in.read("tensor_flops_per_clk_per_sm_16bit", h.tensor_flops_per_clk_16bit, 0);
  in.read("tensor_flops_per_clk_per_sm_8bit", h.tensor_flops_per_clk_8bit, 0);
  in.read("fp32_fma_per_clk_per_sm", h.fp32_fma_per_clk, 0);
  in.read("exp2_per_clk_per_sm", h.exp2_per_clk, 0);
  in.read("sram_bytes_per_clk_per_sm", h.sram_bytes_per_clk, 0);
  in.read("l2_bytes_per_clk_per_sm", h.l2_bytes_per_clk, 0);
  in.read("max_warps_per_sm", h.max_warps, 0);
  in.read("sram_latency_clk", h.sram_latency_clk, 0);
  in.read("l2_latency_clk", h.l2_latency_clk, 0);
  in.read("dram_latency_clk", h.dram_latency_clk, 0);
  if (h.sram_per_block > h.sram_per_sm)
    throw InputError(fmt::format("{}: sram_per_block_bytes must not exceed sram_per_sm_bytes.", source));
  return h;
}

Hardware read_hardware(const std::filesystem::path& path) {
  return hardware_from_json(read_text(path), path.string(), path.stem().string());
}

Hardware hardware_named(std::string_view name) {
  const std::filesystem::path path(name);
  if (path.extension() == ".json") return read_hardware(path);
  const std::vector<std::string> names = hardware_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError(fmt::format("--hardware {} is not known; choose one of {}, or the path of a .json file.", name,
                                 fmt::join(names, ", ")));
  return read_hardware(assets_folder() / "hardware" / (std::string(name) + ".json"));
}

std::vector<std::string> hardware_names() {
  const std::filesystem::path folder = assets_folder() / "hardware";
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  if (names.empty())
    throw InputError(
        fmt::format("{}: holds no GPU descriptions; set FLASHSCOPE_ASSETS to the folder assets.", folder.string()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fa

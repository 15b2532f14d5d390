#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/cli/commands.h"
#include "sim/cli/report_json.h"
#include "sim/cli/specification.h"
#include "sim/cli/table.h"

namespace fa::cli {
namespace {

std::vector<std::string> input_files() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(assets_folder() / "inputs", error))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

void list(const Arguments& a) {
  if (a.json) {
    fmt::print("{}", list_json(input_files()));
    return;
  }
  fmt::print("programs\n");
  for (const Program& program : programs) fmt::print("  {:<14} {}\n", program.name, program.summary);

  fmt::print("\ntilings (--tiling; Br × Bc)\n");
  for (const NamedTiling& named : named_tilings)
    fmt::print("  {:<22} {:<7} {:<7} {:<9} {:<40} {}\n", named.name, named.program == "*" ? "any" : named.program,
               named.d == 0 ? "any d" : fmt::format("d {}", named.d), named.pass ? name_of(*named.pass) : "both",
               describe(named.tiling), named.source);

  fmt::print("\n");
  Table gpus({"GPUs (--hardware)", "", "SMs", "SRAM per block", "L2", "DRAM", "GB/s"});
  for (const std::string& id : hardware_names()) {
    const Hardware h = hardware_named(id);
    gpus.add({"  " + id, h.name, std::to_string(h.sms), human(h.sram_per_block), human(h.l2), human(h.dram),
              fmt::format("{:.0f}", h.dram_gb_per_s)});
  }
  fmt::print("{}\ninputs (--input)\n", gpus.text());
  for (const std::string& file : input_files()) {
    const Input input = read_input(file);
    fmt::print("  {}  {}{}\n", file, describe(input.problem), input.tokens.empty() ? "" : ", with its tokens");
  }
}

}  // namespace fa::cli

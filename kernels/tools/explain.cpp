// fagpu explain: which kernel takes a problem on a GPU, and a sentence for each that does not.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kernels/tools/options.h"
#include "sim/sim.h"

namespace fa::kernels {
namespace {

// A GPU that need not be here, by its file in assets/hardware.
Device device_of(const Hardware& h) {
  const std::string& cc = h.compute_capability;  // "9.0"
  return {.name = h.name,
          .compute_capability = static_cast<int>(std::stod(cc) * 10 + 0.5),
          .multiprocessors = h.sms,
          .shared_memory_per_block = static_cast<int>(h.sram_per_block.count()),
          .l2_bytes = h.l2.count(),
          .memory_bytes = h.dram.count()};
}

std::string elements_of(const Kernel& kernel) {
  std::string text;
  for (const Element element : kernel.elements) {
    if (!text.empty()) text += ' ';
    text += name_of(element);
  }
  return text;
}

void print_list() {
  fmt::print("{:<20} {:<9} {:>4} {:>9}  {:<10} {:<9} {:>13}\n", "kernel", "pass", "d", "tile", "elements", "GPU",
             "shared memory");
  for (const Kernel& k : kernels())
    fmt::print("{:<20} {:<9} {:>4} {:>9}  {:<10} {:<9} {:>13}\n", k.name, name_of(k.pass), k.d,
               fmt::format("{}x{}", k.tiling.rows_q, k.tiling.rows_kv), elements_of(k),
               fmt::format("sm_{}{}", k.min_cc, k.max_cc == 999 ? "+" : ""), k.shared_memory);
}

nlohmann::ordered_json json_of(const Choice& choice, Pass pass) {
  nlohmann::ordered_json refused = nlohmann::ordered_json::array();
  for (const Refusal& refusal : choice.refused)
    refused.push_back(
        {{"kernel", std::string(refusal.kernel->name)}, {"d", refusal.kernel->d}, {"why", refusal.sentence}});
  nlohmann::ordered_json json{
      {"pass", std::string(name_of(pass))}, {"kernel", nullptr}, {"sentence", choice.sentence}, {"refused", refused}};
  if (choice.kernel != nullptr)
    json["kernel"] = {{"name", std::string(choice.kernel->name)},
                      {"d", choice.kernel->d},
                      {"rows_q", choice.kernel->tiling.rows_q},
                      {"rows_kv", choice.kernel->tiling.rows_kv},
                      {"shared_memory", choice.kernel->shared_memory}};
  return json;
}

}  // namespace

int explain(const Options& options) {
  const Device device = options.hardware.empty() ? current_device() : device_of(hardware_named(options.hardware));
  const Problem p = options.problem(4096, 16, 128, Element::bf16);
  bool taken = true;
  nlohmann::ordered_json passes = nlohmann::ordered_json::array();
  if (!options.json) {
    print_list();
    fmt::print("\n{} on {}\n", describe(p), device.name);
  }
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    if (options.pass && *options.pass != pass) continue;
    const Choice choice = choose(p, pass, device);
    taken = taken && choice.kernel != nullptr;
    if (options.json) {
      passes.push_back(json_of(choice, pass));
      continue;
    }
    fmt::print("\n{}: {}\n", name_of(pass), choice.sentence);
    for (const Refusal& refusal : choice.refused) fmt::print("  - {}\n", refusal.sentence);
  }
  if (options.json)
    fmt::print("{}\n",
               nlohmann::ordered_json{{"device", device.name}, {"problem", to_json(p)}, {"passes", passes}}.dump(1));
  return taken ? 0 : 1;
}

}  // namespace fa::kernels

#include "sim/cli/report_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace fa::cli {
namespace {

using Json = nlohmann::ordered_json;

Json problem_json(const Problem& p) {
  return {{"batch", p.batch}, {"heads", p.heads}, {"kv_heads", p.kv_heads}, {"n_q", p.n_q},
          {"n_kv", p.n_kv},   {"d", p.d},         {"causal", p.causal},     {"element", name_of(p.element)}};
}

Json tiling_json(const Tiling& t) {
  return {{"rows_q", t.rows_q}, {"rows_kv", t.rows_kv}, {"fp32_temporaries", t.fp32_temporaries}};
}

Json by_tensor(const Counts& counts) {
  Json json = Json::object();
  for (int i = 0; i < tensor_count; ++i) {
    const TensorCounts& tensor = counts[tensor_at(i)];
    if (tensor.read == Bytes(0) && tensor.written == Bytes(0)) continue;
    json[std::string(name_of(tensor_at(i)))] = {{"read", tensor.read.count()}, {"write", tensor.written.count()}};
  }
  return json;
}

Json error(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

Json entry_json(const Entry& entry) {
  const Report& r = entry.report;
  Json json{{"program", r.program}, {"pass", r.pass}, {"tiling", tiling_json(r.tiling)}};
  json["launches"] = Json::array();
  for (const Launch& launch : entry.run.launches)
    json["launches"].push_back({{"name", launch.name},
                                {"blocks", launch.blocks},
                                {"requested_read_bytes", launch.counts.read().count()},
                                {"requested_write_bytes", launch.counts.written().count()},
                                {"by_tensor", by_tensor(launch.counts)},
                                {"sram_peak_bytes", launch.sram_peak.count()},
                                {"matmul_flops", launch.counts.flops.count()},
                                {"exponentials", launch.counts.exponentials}});
  json["requested_read_bytes"] = r.counts.read().count();
  json["requested_write_bytes"] = r.counts.written().count();
  json["requested_reduce_bytes"] = 0;  // a forward pass adds to nothing in HBM
  json["closed_form_read_bytes"] = r.closed_form ? Json(r.closed_form->read().count()) : Json();
  json["closed_form_write_bytes"] = r.closed_form ? Json(r.closed_form->written().count()) : Json();
  json["by_tensor"] = by_tensor(r.counts);
  json["sram_peak_bytes"] = r.sram_peak.count();
  json["sram_read_bytes"] = r.counts.sram_read.count();
  json["sram_write_bytes"] = r.counts.sram_written.count();
  json["footprint_bytes"] = r.footprint.total().count();
  json["matmul_flops"] = r.counts.flops.count();
  json["exponentials"] = r.counts.exponentials;
  json["max_abs_error"] = r.accuracy ? error(r.accuracy->max_abs_error) : Json();
  json["plain_max_abs_error"] = r.accuracy ? error(r.accuracy->plain_max_abs_error) : Json();
  json["error_tolerance"] = r.accuracy ? error(r.accuracy->tolerance) : Json();
  json["exact"] = r.accuracy ? Json(r.accuracy->exact) : Json();
  for (const char* modelled : {"dram_read_bytes", "dram_write_bytes", "cycles"}) json[modelled] = nullptr;
  json["modelled"] = Json::array();
  return json;
}

}  // namespace

std::string report_json(const Problem& problem, const Hardware& hardware, const std::string& source,
                        const std::vector<Entry>& entries) {
  Json json{{"problem", problem_json(problem)}, {"hardware", hardware.id}, {"input", source}};
  json["programs"] = Json::array();
  for (const Entry& entry : entries) json["programs"].push_back(entry_json(entry));
  return json.dump(2) + "\n";
}

std::string bounds_json(const Problem& problem, const Hardware& hardware,
                        const std::vector<std::pair<std::string, Tiling>>& chosen) {
  const Bounds b = fa::bounds(problem, hardware);
  const Counts least = compulsory(problem);
  Json json{{"problem", problem_json(problem)}, {"hardware", hardware.id}};
  json["compulsory_read_bytes"] = least.read().count();
  json["compulsory_write_bytes"] = least.written().count();
  json["per_head_elements"] = {{"sram", b.sram_elements},
                               {"standard", b.standard},
                               {"flash", b.flash},
                               {"lower", b.lower},
                               {"sram_at_least_d_squared", b.large_sram},
                               {"in_range", b.in_range}};
  json["programs"] = Json::array();
  for (const auto& [name, tiling] : chosen) {
    const auto form = closed_form(name, problem, tiling, hardware);
    if (!form) continue;
    json["programs"].push_back({{"program", name},
                                {"pass", "forward"},
                                {"tiling", tiling_json(tiling)},
                                {"closed_form_read_bytes", form->read().count()},
                                {"closed_form_write_bytes", form->written().count()},
                                {"by_tensor", by_tensor(*form)}});
  }
  return json.dump(2) + "\n";
}

std::string list_json(const std::vector<std::string>& inputs) {
  Json json;
  for (const Program& program : programs)
    json["programs"].push_back({{"name", program.name}, {"title", program.title}, {"summary", program.summary}});
  for (const NamedTiling& named : named_tilings)
    json["tilings"].push_back(
        {{"name", named.name}, {"program", named.program}, {"d", named.d}, {"tiling", tiling_json(named.tiling)}});
  for (const std::string& id : hardware_names()) {
    const Hardware h = hardware_named(id);
    json["hardware"].push_back({{"id", h.id},
                                {"name", h.name},
                                {"sms", h.sms},
                                {"sram_per_block_bytes", h.sram_per_block.count()},
                                {"l2_bytes", h.l2.count()},
                                {"dram_bytes", h.dram.count()},
                                {"dram_gb_per_s", h.dram_gb_per_s}});
  }
  json["inputs"] = inputs;
  return json.dump(2) + "\n";
}

}  // namespace fa::cli

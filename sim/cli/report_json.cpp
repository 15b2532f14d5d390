#include "sim/cli/report_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace fa::cli {
namespace {

using Json = nlohmann::ordered_json;

Json by_tensor(const Counts& counts) {
  Json json = Json::object();
  for (int i = 0; i < tensor_count; ++i) {
    const TensorCounts& tensor = counts[tensor_at(i)];
    if (tensor == TensorCounts{}) continue;
    json[std::string(name_of(tensor_at(i)))] = {
        {"read", tensor.read.count()}, {"write", tensor.written.count()}, {"reduce", tensor.reduced.count()}};
  }
  return json;
}

Json error(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

Json errors_json(const Accuracy& accuracy) {
  Json json = Json::object();
  for (const TensorError& e : accuracy.tensors)
    json[std::string(name_of(e.tensor))] = {{"max_abs_error", error(e.max_abs_error)},
                                            {"plain_max_abs_error", error(e.plain_max_abs_error)},
                                            {"error_tolerance", error(e.tolerance)},
                                            {"exact", e.exact()}};
  return json;
}

Json roofline_json(const Roofline& line) {
  if (line.roofs.empty()) return nullptr;
  Json json{{"lowest", line.lowest().name}, {"flops_per_second", line.flops_per_second}, {"of_peak", line.of_peak}};
  for (const Roof& roof : line.roofs)
    json["roofs"].push_back({{"name", roof.name},
                             {"memory", roof.memory},
                             {"work", roof.work},
                             {"per_second", roof.per_second},
                             {"intensity", roof.intensity},
                             {"flops_allowed", roof.flops_allowed},
                             {"seconds", roof.seconds}});
  return json;
}

// Bytes by way, with the wavefronts of all of them.
Json sram_json(const Entry& entry) {
  if (entry.sram.empty()) return nullptr;
  Json json = Json::array();
  for (std::size_t k = 0; k < entry.sram.size(); ++k) {
    const SramTraffic& t = entry.sram[k];
    const RegisterUse& r = entry.registers[k];
    Json launch{{"name", entry.run.launches[k].name},
                {"warps", r.warps},
                {"register_bytes_per_block", r.of_block.count()},
                {"registers_per_thread", r.of_thread}};
    for (const auto& [name, move] : {std::pair{"copied", &t.copied},
                                     {"stored", &t.stored},
                                     {"operands", &t.operands},
                                     {"loaded", &t.loaded},
                                     {"sent", &t.sent}})
      launch[name] = {
          {"bytes", move->bytes.count()}, {"wavefronts", move->wavefronts}, {"conflict_wavefronts", move->conflicts}};
    json.push_back(std::move(launch));
  }
  return json;
}

Json entry_json(const Entry& entry) {
  const Report& r = entry.report;
  Json json{{"program", r.program}, {"pass", name_of(r.pass)}, {"tiling", to_json(r.tiling)}};
  json["launches"] = Json::array();
  for (const Launch& launch : entry.run.launches)
    json["launches"].push_back({{"name", launch.name},
                                {"blocks", launch.blocks},
                                {"requested_read_bytes", launch.counts.read().count()},
                                {"requested_write_bytes", launch.counts.written().count()},
                                {"requested_reduce_bytes", launch.counts.reduced().count()},
                                {"by_tensor", by_tensor(launch.counts)},
                                {"sram_peak_bytes", launch.sram_peak.count()},
                                {"matmul_flops", launch.counts.flops.count()},
                                {"exponentials", launch.counts.exponentials},
                                {"special_functions", launch.counts.special}});
  json["requested_read_bytes"] = r.counts.read().count();
  json["requested_write_bytes"] = r.counts.written().count();
  json["requested_reduce_bytes"] = r.counts.reduced().count();
  json["closed_form_read_bytes"] = r.closed_form ? Json(r.closed_form->read().count()) : Json();
  json["closed_form_write_bytes"] = r.closed_form ? Json(r.closed_form->written().count()) : Json();
  json["closed_form_reduce_bytes"] = r.closed_form ? Json(r.closed_form->reduced().count()) : Json();
  json["by_tensor"] = by_tensor(r.counts);
  json["sram_peak_bytes"] = r.sram_peak.count();
  json["sram_read_bytes"] = r.counts.sram_read.count();
  json["sram_write_bytes"] = r.counts.sram_written.count();
  json["closed_form_sram_read_bytes"] = r.sram_form ? Json(r.sram_form->read.count()) : Json();
  json["closed_form_sram_write_bytes"] = r.sram_form ? Json(r.sram_form->written.count()) : Json();
  json["sram"] = sram_json(entry);
  json["footprint_bytes"] = r.footprint.total().count();
  json["matmul_flops"] = r.counts.flops.count();
  json["exponentials"] = r.counts.exponentials;
  json["special_functions"] = r.counts.special;
  // The three are those of the result that comes closest to what is allowed; "errors" has each.
  const TensorError* worst = r.accuracy ? &r.accuracy->worst() : nullptr;
  json["max_abs_error"] = worst ? error(worst->max_abs_error) : Json();
  json["plain_max_abs_error"] = worst ? error(worst->plain_max_abs_error) : Json();
  json["error_tolerance"] = worst ? error(worst->tolerance) : Json();
  json["exact"] = r.accuracy ? Json(r.accuracy->exact()) : Json();
  json["errors"] = r.accuracy ? errors_json(*r.accuracy) : Json();
  json["dram_read_bytes"] = r.dram ? Json(r.dram->read.count()) : Json();
  json["dram_write_bytes"] = r.dram ? Json(r.dram->written.count()) : Json();
  json["dram_dirty_bytes"] = r.dram ? Json(r.dram->dirty.count()) : Json();  // of the writes: in L2 when the run ends
  json["roofline"] = roofline_json(r.roofline);
  json["cycles"] = entry.time ? Json(std::llround(entry.time->cycles())) : Json();
  json["modelled"] = Json::array();
  for (const char* field : {"dram_read_bytes", "dram_write_bytes", "dram_dirty_bytes", "roofline", "cycles"})
    if (!json[field].is_null()) json["modelled"].push_back(field);
  return json;
}

}  // namespace

std::string report_json(const Problem& problem, const Hardware& hardware, const std::string& source,
                        const std::vector<Entry>& entries) {
  Json json{{"problem", to_json(problem)}, {"hardware", hardware.id}, {"input", source}};
  json["programs"] = Json::array();
  for (const Entry& entry : entries) json["programs"].push_back(entry_json(entry));
  return json.dump(2) + "\n";
}

std::string measured_json(const MeasurementFile& file, const Hardware& hardware, const std::vector<MeasuredRows>& all,
                          const std::vector<ErrorSummary>& summary) {
  Json json{{"device", file.device}, {"date", file.date}, {"hardware", hardware.id}};
  json["rows"] = json["summary"] = json["left_out"] = Json::array();
  for (const MeasuredRows& entry : all) {
    const Json kernel{{"kernel", entry.measurement.kernel},
                      {"pass", entry.measurement.pass},
                      {"problem", to_json(entry.measurement.problem)}};
    for (const Comparison& c : entry.comparisons) {
      Json row = kernel;
      row["quantity"] = c.quantity;
      row["modelled"] = c.modelled;
      row["simulated"] = c.simulated;
      row["measured"] = c.measured;
      row["error_percent"] = c.error_percent ? Json(*c.error_percent) : Json();
      json["rows"].push_back(std::move(row));
    }
    if (entry.left_out.empty()) continue;
    Json left_out = kernel;
    left_out["reason"] = entry.left_out;
    json["left_out"].push_back(std::move(left_out));
  }
  for (const ErrorSummary& s : summary)
    json["summary"].push_back({{"quantity", s.quantity},
                               {"count", s.count},
                               {"mape_percent", s.count > 0 ? Json(s.mape_percent) : Json()},
                               {"max_percent", s.count > 0 ? Json(s.max_percent) : Json()}});
  return json.dump(2) + "\n";
}

std::string bounds_json(const Problem& problem, Pass pass, const Hardware& hardware,
                        const std::vector<std::pair<std::string, Tiling>>& chosen, const std::vector<Reach>& reach) {
  const Bounds b = fa::bounds(problem, hardware);
  const Counts least = compulsory(problem, pass);
  Json json{{"problem", to_json(problem)}, {"hardware", hardware.id}};
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
    const auto form = closed_form(name, problem, tiling, hardware, pass);
    if (!form) continue;
    const auto sram = sram_closed_form(name, problem, tiling, hardware, pass);
    json["programs"].push_back({{"program", name},
                                {"pass", name_of(pass)},
                                {"tiling", to_json(tiling)},
                                {"closed_form_read_bytes", form->read().count()},
                                {"closed_form_write_bytes", form->written().count()},
                                {"closed_form_reduce_bytes", form->reduced().count()},
                                {"closed_form_sram_read_bytes", sram ? Json(sram->read.count()) : Json()},
                                {"closed_form_sram_write_bytes", sram ? Json(sram->written.count()) : Json()},
                                {"by_tensor", by_tensor(*form)}});
  }
  for (const Reach& gpu : reach)
    for (std::size_t i = 0; i < chosen.size(); ++i) json["largest_n"][gpu.gpu][chosen[i].first] = gpu.largest_n[i];
  return json.dump(2) + "\n";
}

std::string paper_json() {
  Json json{{"problem", to_json(paper_figure2_problem())}};
  for (const PaperFigure& f : paper_figure2())
    json["figures"].push_back({{"name", f.what},
                               {"program", f.program},
                               {"tiling", to_json(f.tiling)},
                               {"forward_bytes", f.forward.count()},
                               {"backward_bytes", f.backward.count()},
                               {"total_bytes", f.total().count()},
                               {"printed_gb", f.printed_gb},
                               {"assumptions", f.assumptions}});
  return json.dump(2) + "\n";
}

std::string list_json(const std::vector<std::string>& inputs) {
  Json json;
  for (const Program& program : programs)
    json["programs"].push_back({{"name", program.name}, {"title", program.title}, {"summary", program.summary}});
  for (const NamedTiling& named : named_tilings)
    json["tilings"].push_back({{"name", named.name},
                               {"program", named.program},
                               {"d", named.d},
                               {"pass", named.pass ? Json(name_of(*named.pass)) : Json()},
                               {"tiling", to_json(named.tiling)}});
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

#include "sim/record/measurement.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/config/json.h"
#include "sim/core/error.h"
#include "sim/core/files.h"

namespace fa {
namespace {

using Json = nlohmann::ordered_json;

// Counts are whole numbers; they are written as such.
Json number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9.0e15) return static_cast<std::int64_t>(value);
  return value;
}

Json counters_json(const std::map<std::string, double>& counters) {
  Json json = Json::object();
  for (const auto& entry : counters) json[entry.first] = number(entry.second);
  return json;
}

Json measurement_json(const Measurement& m) {
  return {
      {"kernel", m.kernel},
      {"program", m.program},
      {"pass", m.pass},
      {"kernel_d", m.kernel_d},
      {"tiling",
       {{"rows_q", m.tiling.rows_q}, {"rows_kv", m.tiling.rows_kv}, {"fp32_temporaries", m.tiling.fp32_temporaries}}},
      {"problem", to_json(m.problem)},
      {"counters", counters_json(m.counters)},
      {"after_flush", counters_json(m.after_flush)}};
}

std::map<std::string, double> counters_of(const Json& json) {
  std::map<std::string, double> counters;
  for (const auto& item : json.items()) counters[item.key()] = item.value().get<double>();
  return counters;
}

// A positive int, or a sentence.
int positive(const Json& json, const char* key) {
  const Json& value = json.at(key);
  const auto whole = value.is_number_integer() ? value.get<std::int64_t>() : 0;
  if (whole < 1 || whole > 1 << 30) throw InputError(fmt::format("{} must be a positive whole number", key));
  return static_cast<int>(whole);
}

Measurement measurement_of(const Json& json) {
  Measurement m;
  m.kernel = json.at("kernel").get<std::string>();
  m.program = json.at("program").get<std::string>();
  m.pass = json.at("pass").get<std::string>();
  if (m.pass != "forward" && m.pass != "backward")
    throw InputError(fmt::format("pass must be forward or backward, not '{}'", m.pass));
  m.kernel_d = positive(json, "kernel_d");

  const Json& tiling = json.at("tiling");
  m.tiling.rows_q = positive(tiling, "rows_q");
  m.tiling.rows_kv = positive(tiling, "rows_kv");
  m.tiling.fp32_temporaries = tiling.value("fp32_temporaries", false);

  const Json& problem = json.at("problem");
  Problem& p = m.problem;
  p.batch = positive(problem, "batch");
  p.heads = positive(problem, "heads");
  p.kv_heads = positive(problem, "kv_heads");
  p.n_q = positive(problem, "n_q");
  p.n_kv = positive(problem, "n_kv");
  p.d = positive(problem, "d");
  p.causal = problem.at("causal").get<bool>();
  if (p.heads % p.kv_heads != 0)
    throw InputError(fmt::format("heads {} must be a multiple of kv_heads {}", p.heads, p.kv_heads));
  const auto element_name = problem.at("element").get<std::string>();
  const auto element = element_named(element_name);
  if (!element) throw InputError(fmt::format("element must be fp32, fp16, bf16 or e4m3, not '{}'", element_name));
  p.element = *element;

  m.counters = counters_of(json.at("counters"));
  if (json.contains("after_flush")) m.after_flush = counters_of(json.at("after_flush"));
  return m;
}

}  // namespace

std::optional<double> Measurement::counter(std::string_view name) const {
  const auto found = counters.find(std::string(name));
  if (found == counters.end()) return std::nullopt;
  return found->second;
}

MeasurementFile measurements_from_json(const std::string& text, const std::string& name_for_errors) {
  std::size_t index = 0;
  bool in_list = false;
  const auto where = [&] { return in_list ? fmt::format(", measurement {}", index) : std::string(); };
  try {
    const Json json = Json::parse(text);
    MeasurementFile file;
    file.device = json.at("device").get<std::string>();
    file.chip = json.at("chip").get<std::string>();
    file.compute_capability = json.at("compute_capability").get<std::string>();
    file.multiprocessors = positive(json, "multiprocessors");
    file.l2_bytes = json.at("l2_bytes").get<double>();
    file.memory_bytes = json.at("memory_bytes").get<double>();
    file.driver = json.at("driver").get<std::string>();
    file.cuda = json.at("cuda").get<std::string>();
    file.clocks = json.at("clocks").get<std::string>();
    file.date = json.at("date").get<std::string>();
    file.protocol = json.at("protocol").get<std::string>();
    in_list = true;
    for (const Json& entry : json.at("measurements")) {
      file.measurements.push_back(measurement_of(entry));
      ++index;
    }
    return file;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}{}: {}", name_for_errors, where(), error.what()));
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}{}: not a measurement file that `fagpu measure` wrote ({})", name_for_errors,
                                 where(), error.what()));
  }
}

MeasurementFile read_measurements(const std::string& path) { return measurements_from_json(read_text(path), path); }

std::string to_json(const MeasurementFile& f) {
  Json json{{"device", f.device},
            {"chip", f.chip},
            {"compute_capability", f.compute_capability},
            {"multiprocessors", f.multiprocessors},
            {"l2_bytes", number(f.l2_bytes)},
            {"memory_bytes", number(f.memory_bytes)},
            {"driver", f.driver},
            {"cuda", f.cuda},
            {"clocks", f.clocks},
            {"date", f.date},
            {"protocol", f.protocol}};
  // One measurement a line: a diff of two files then shows which kernels moved.
  std::string text = json.dump(1);
  text.erase(text.rfind("\n}"));
  text += ",\n \"measurements\": [";
  for (std::size_t i = 0; i < f.measurements.size(); ++i)
    text += (i == 0 ? "\n  " : ",\n  ") + measurement_json(f.measurements[i]).dump();
  return text + "\n ]\n}\n";
}

void write_measurements(const MeasurementFile& file, const std::string& path) { write_text(path, to_json(file)); }

}  // namespace fa

// fasim measured: a file of hardware counters beside what the simulator says of the same kernels.

#include <fmt/format.h>

#include <cctype>

#include "sim/cli/commands.h"
#include "sim/cli/progress.h"
#include "sim/cli/report_json.h"
#include "sim/cli/specification.h"
#include "sim/cli/table.h"

namespace fa::cli {
namespace {

// The description of the GPU that was measured: "NVIDIA GeForce RTX 4090" has "rtx4090" in its name.
Hardware hardware_of(const Arguments& a, const MeasurementFile& file) {
  if (!a.measured_hardware.empty()) return hardware_named(a.measured_hardware);
  std::string device;
  for (char c : file.device)
    if (c != ' ') device += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string& id : hardware_names())
    if (const Hardware h = hardware_named(id); device.find(id) != std::string::npos && h.sms == file.multiprocessors)
      return h;
  throw InputError(fmt::format("{}: no description fits its GPU, {} with {} SMs; name one with --hardware.", a.file,
                               file.device, file.multiprocessors));
}

MeasuredRows compared(const Measurement& m, const Hardware& hardware) {
  const Run run = run_of(m, hardware, Detail::kinds);
  const auto dram = dram_traffic(run);
  const RunTime time = model_time(run, dram ? &*dram : nullptr);
  return {m, compare_measured(m, run, dram ? &*dram : nullptr, &time), ""};
}

// Bytes as bytes, the rest as counts.
std::string amount(const Comparison& c, double value) {
  if (c.quantity.find("bytes") == std::string_view::npos) return human_count(value);
  return human(Bytes(static_cast<std::int64_t>(value)));
}

void print(const MeasurementFile& file, const Hardware& hardware, const std::vector<MeasuredRows>& all,
           const std::vector<ErrorSummary>& summary) {
  fmt::print("{}, {}, driver {}, CUDA {}; simulated as {}\n\n", file.device, file.date, file.driver, file.cuda,
             hardware.id);
  Table rows({"kernel, problem", "quantity", "", "simulated", "measured", "error"});
  for (const MeasuredRows& entry : all)
    for (const Comparison& c : entry.comparisons)
      rows.add({fmt::format("{} {}, {}", entry.measurement.kernel, entry.measurement.pass,
                            describe(entry.measurement.problem)),
                std::string(c.quantity), c.modelled ? "modelled" : "counted", amount(c, c.simulated),
                amount(c, c.measured), c.error_percent ? fmt::format("{:+.2f} %", *c.error_percent) : "–"});
  Table errors({"quantity", "compared", "mean |error|", "max |error|"});
  for (const ErrorSummary& s : summary)
    errors.add({std::string(s.quantity), std::to_string(s.count), fmt::format("{:.2f} %", s.mape_percent),
                fmt::format("{:.2f} %", s.max_percent)});
  fmt::print("{}\n{}", rows.text(), errors.text());
  for (const MeasuredRows& entry : all)
    if (!entry.left_out.empty())
      fmt::print("left out: {} {}, {}: {}\n", entry.measurement.kernel, entry.measurement.pass,
                 describe(entry.measurement.problem), entry.left_out);
}

}  // namespace

void measured(const Arguments& a) {
  const MeasurementFile file = read_measurements(a.file);
  const Hardware hardware = hardware_of(a, file);
  std::vector<MeasuredRows> all;
  std::vector<Comparison> comparisons;
  std::string why;
  {
    Progress progress(file.measurements.size());
    for (const Measurement& m : file.measurements) {
      progress.step(m.kernel);
      try {
        all.push_back(compared(m, hardware));
      } catch (const std::runtime_error& error) {  // a program that is not simulated, a tile that does not fit
        all.push_back({m, {}, error.what()});
        why = error.what();
      }
      const std::vector<Comparison>& found = all.back().comparisons;
      comparisons.insert(comparisons.end(), found.begin(), found.end());
    }
  }
  if (comparisons.empty())
    throw InputError(fmt::format("{}: none of its {} measurements can be compared{}{}", a.file,
                                 file.measurements.size(), why.empty() ? "" : ": ", why.empty() ? "." : why));
  const std::vector<ErrorSummary> summary = summarise(comparisons);
  if (a.json)
    fmt::print("{}", measured_json(file, hardware, all, summary));
  else
    print(file, hardware, all, summary);
}

}  // namespace fa::cli

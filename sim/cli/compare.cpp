#include <fmt/format.h>

#include "sim/cli/commands.h"
#include "sim/cli/memory_tables.h"
#include "sim/cli/progress.h"
#include "sim/cli/report_json.h"
#include "sim/cli/specification.h"
#include "sim/cli/table.h"
#include "sim/cli/timeline.h"

namespace fa::cli {
namespace {

std::vector<Entry> measured(const Specification& spec, const Arguments& a) {
  Progress progress(spec.programs.size());
  const bool values = wants_values(a, spec.problem);
  std::optional<Operands> operands;
  std::optional<Truth> truth;
  if (values) {
    progress.step("attention in double");
    operands = operands_of(spec, a.seed);
    truth = truth_of(spec.problem, *operands);
  }
  std::vector<Entry> entries;
  for (const Chosen& chosen : spec.programs) {
    progress.step(chosen.program->name);
    Executed executed = execute(*chosen.program, spec.problem, chosen.tiling, spec.hardware,
                                {.detail = values ? Detail::values : Detail::totals, .pass = spec.pass},
                                operands ? &*operands : nullptr);
    std::optional<Accuracy> error;
    if (values) error = accuracy(executed, *truth);
    Report result = report(executed.run, error);
    entries.push_back({std::move(executed.run), std::move(result)});
  }
  return entries;
}

void print_head(const Specification& spec) {
  fmt::print("{}, {}{}{}\n{}: {} of SRAM for each block\n\n", describe(spec.problem), spec.source,
             spec.heads.empty() ? "" : ", " + spec.heads, spec.pass == Pass::backward ? ", backward" : "",
             spec.hardware.name, human(spec.hardware.sram_per_block));
}

std::string holds(const Report& r) { return !r.closed_form ? "none" : r.closed_form_holds ? "equal" : "DIFFERS"; }

void print_errors(const std::vector<Entry>& entries) {
  Table table({"error against double", "of", "max", "plain attention's", "allowed", "LSE", ""});
  for (const Entry& entry : entries) {
    const Accuracy& a = *entry.report.accuracy;
    for (const TensorError& e : a.tensors)
      table.add({entry.report.program, std::string(name_of(e.tensor)), fmt::format("{:.2e}", e.max_abs_error),
                 fmt::format("{:.2e}", e.plain_max_abs_error), fmt::format("{:.2e}", e.tolerance),
                 a.lse_max_error < 0 ? "–" : fmt::format("{:.1e}", a.lse_max_error),
                 e.exact() && a.lse_max_error <= lse_tolerance ? "exact" : "NOT exact"});
  }
  fmt::print("\n{}", table.text());
}

// Bytes by tensor, a row for each program; tensors that nobody moves have no column.
void print_tensors(const std::vector<Entry>& entries, std::string_view title, Bytes TensorCounts::*way) {
  std::vector<Tensor> moved;
  for (int i = 0; i < tensor_count; ++i)
    for (const Entry& entry : entries)
      if (entry.report.counts[tensor_at(i)].*way > Bytes(0)) {
        moved.push_back(tensor_at(i));
        break;
      }
  std::vector<std::string> header{std::string(title)};
  for (Tensor tensor : moved) header.emplace_back(name_of(tensor));
  Table table(header);
  for (const Entry& entry : entries) {
    std::vector<std::string> row{entry.report.program};
    for (Tensor tensor : moved) {
      const Bytes bytes = entry.report.counts[tensor].*way;
      row.push_back(bytes == Bytes(0) ? "–" : human(bytes));
    }
    table.add(row);
  }
  if (!moved.empty()) fmt::print("\n{}", table.text());
}

}  // namespace

void compare(const Arguments& a) {
  const Specification spec = specify(a, true);
  const std::vector<Entry> entries = measured(spec, a);
  if (a.json) {
    fmt::print("{}", report_json(spec.problem, spec.hardware, spec.source, entries));
    return;
  }
  print_head(spec);
  Table bytes({"requested bytes (counted)", "tiling", "read", "written", "added", "total", "of naive", "closed form"});
  Table costs({"cost (counted)", "SRAM peak", "SRAM read", "SRAM written", "footprint", "beyond operands", "matmul",
               "exponentials"});
  const Report* naive = nullptr;
  for (const Entry& entry : entries)
    if (entry.report.program == "naive") naive = &entry.report;
  for (const Entry& entry : entries) {
    const Report& r = entry.report;
    bytes.add({r.program, describe(r.tiling), human(r.counts.read()), human(r.counts.written()),
               human(r.counts.reduced()), human(r.counts.moved()),
               naive ? fmt::format("{:.3f}", r.counts.moved() / naive->counts.moved()) : "–", holds(r)});
    costs.add({r.program, human(r.sram_peak), human(r.counts.sram_read), human(r.counts.sram_written),
               human(r.footprint.total()), human(r.footprint.extra), human(r.counts.flops),
               human_count(static_cast<double>(r.counts.exponentials))});
  }
  fmt::print("{}\n{}", bytes.text(), costs.text());
  print_tensors(entries, "read by tensor", &TensorCounts::read);
  print_tensors(entries, "written by tensor", &TensorCounts::written);
  print_tensors(entries, "added to by tensor", &TensorCounts::reduced);
  print_dram(entries);
  print_rooflines(entries);
  if (entries.front().report.accuracy)
    print_errors(entries);
  else
    fmt::print("\nThe error was not computed at this size; --values computes it.\n");
}

void run(const Arguments& a) {
  const Specification spec = specify(a, false);
  std::vector<Entry> entries = measured(spec, a);
  std::optional<Run> kinds;
  if (a.timeline || a.sram) kinds = run_of_kinds(spec, spec.programs.front());
  if (a.timeline) entries.front().time = model_time(*kinds);
  if (a.sram) {
    entries.front().sram = sram_traffic(*kinds);
    entries.front().registers = register_use(*kinds);
  }
  if (a.json) {
    fmt::print("{}", report_json(spec.problem, spec.hardware, spec.source, entries));
    return;
  }
  const Run& run = entries.front().run;
  const Report& r = entries.front().report;
  print_head(spec);
  fmt::print("{}: {}\ntiling {}\n\n", r.program, spec.programs.front().program->summary, describe(r.tiling));
  Table launches({"launch (counted)", "blocks", "read", "written", "added", "SRAM peak", "matmul", "exponentials"});
  for (const Launch& launch : run.launches)
    launches.add({launch.name, with_separators(launch.blocks), human(launch.counts.read()),
                  human(launch.counts.written()), human(launch.counts.reduced()), human(launch.sram_peak),
                  human(launch.counts.flops), human_count(static_cast<double>(launch.counts.exponentials))});
  launches.add({"total", "", human(r.counts.read()), human(r.counts.written()), human(r.counts.reduced()),
                human(r.sram_peak), human(r.counts.flops), human_count(static_cast<double>(r.counts.exponentials))});
  fmt::print("{}", launches.text());

  Table buffers({"buffer of a block", "in", "rows × cols", "bytes"});
  for (const Launch& launch : run.launches)
    for (const BufferInfo& info : launch.buffers)
      buffers.add({fmt::format("{}  {}", launch.name, info.name), info.level == Level::sram ? "SRAM" : "registers",
                   fmt::format("{} × {}", info.shape.rows, info.shape.cols), human(info.bytes)});
  fmt::print("\n{}", buffers.text());

  Table tensors({"tensor in HBM (counted)", "read", "written", "added", "closed form", "size"});
  for (const Allocation& allocation : run.allocations) {
    const TensorCounts& counts = r.counts[allocation.tensor];
    const bool equal = r.closed_form && (*r.closed_form)[allocation.tensor] == counts;
    tensors.add({std::string(name_of(allocation.tensor)), human(counts.read), human(counts.written),
                 human(counts.reduced),
                 !r.closed_form ? "none"
                 : equal        ? "equal"
                                : "DIFFERS",
                 allocation.place_of == Tensor::none ? human(allocation.bytes())
                                                     : fmt::format("that of {}", name_of(allocation.place_of))});
  }
  fmt::print("\n{}", tensors.text());
  if (a.sram) print_sram(entries.front());
  print_dram(entries.front());
  print_roofline(r.roofline);
  if (a.timeline) print_time(*kinds, *entries.front().time);
  if (r.accuracy) print_errors(entries);
}

}  // namespace fa::cli

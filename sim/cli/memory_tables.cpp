#include "sim/cli/memory_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/table.h"

namespace fa::cli {
namespace {

std::string ratio(Bytes part, Bytes whole) { return whole == Bytes(0) ? "–" : fmt::format("{:.3f}", part / whole); }

// "33.5 TB/s", "1.07 Pflop/s", "999 B"
std::string amount(double value, std::string_view unit) {
  const std::string number = human_count(value);
  const bool prefixed = number.back() < '0' || number.back() > '9';
  return fmt::format("{}{}{}", number, prefixed || unit.empty() ? "" : " ", unit);
}

std::string duration(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} µs", seconds * 1e6) : fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string intensity(const Roof& roof) { return roof.memory ? fmt::format("{:.1f}", roof.intensity) : "–"; }

std::string of(const Roofline& line, std::string_view name) {
  for (const Roof& roof : line.roofs)
    if (roof.name == name) return intensity(roof);
  return "–";
}

void add_program(Table& table, const std::string& name, const Roofline& line) {
  if (line.roofs.empty()) return;
  table.add({name, of(line, "SRAM"), of(line, "L2"), of(line, "DRAM"), std::string(line.lowest().name),
             amount(line.flops_per_second, "flop/s"), fmt::format("{:.0f} %", 100 * line.of_peak),
             duration(line.lowest().seconds)});
}

std::vector<std::string> header(std::string_view title) {
  return {std::string(title), "SRAM", "L2", "DRAM", "lowest roof", "allows", "of matmul peak", "takes at least"};
}

}  // namespace

void print_dram(const std::vector<Entry>& entries) {
  Table table(
      {"DRAM behind L2 (modelled)", "read", "of requested", "written", "of requested", "of it dirty at the end"});
  for (const Entry& entry : entries) {
    const Report& r = entry.report;
    if (!r.dram) return;
    table.add({r.program, human(r.dram->read), ratio(r.dram->read, r.counts.read() + r.counts.reduced()),
               human(r.dram->written), ratio(r.dram->written, r.counts.written() + r.counts.reduced()),
               human(r.dram->dirty)});
  }
  fmt::print("\n{}", table.text());
}

void print_rooflines(const std::vector<Entry>& entries) {
  Table table(header("flop per byte (roofline)"));
  for (const Entry& entry : entries) add_program(table, entry.report.program, entry.report.roofline);
  fmt::print("\n{}", table.text());
}

void print_dram(const Entry& entry) {
  const Report& r = entry.report;
  if (!r.dram) return;
  Table launches({"DRAM behind L2 (modelled)", "read", "of requested", "written"});
  for (std::size_t i = 0; i < r.dram->launches.size(); ++i) {
    const Counts& counts = entry.run.launches[i].counts;
    const DramTraffic::OfLaunch& dram = r.dram->launches[i];
    launches.add({entry.run.launches[i].name, human(dram.read), ratio(dram.read, counts.read() + counts.reduced()),
                  human(dram.written)});
  }
  launches.add({"after the last", "–", "–", human(r.dram->dirty)});
  launches.add({"total", human(r.dram->read), ratio(r.dram->read, r.counts.read() + r.counts.reduced()),
                human(r.dram->written)});
  Table tensors({"tensor in DRAM (modelled)", "read", "of requested", "written"});
  for (int i = 0; i < tensor_count; ++i) {
    const TensorCounts& dram = r.dram->tensors[static_cast<std::size_t>(i)];
    const TensorCounts& asked = r.counts[tensor_at(i)];
    if (asked == TensorCounts{}) continue;
    tensors.add({std::string(name_of(tensor_at(i))), human(dram.read), ratio(dram.read, asked.read + asked.reduced),
                 human(dram.written)});
  }
  fmt::print("\n{}\n{}", launches.text(), tensors.text());
}

void print_roofline(const Roofline& line) {
  if (line.roofs.empty()) return;
  Table table(
      {"roof (peak, at boost clock)", "work", "peak", "flop per byte", "ridge", "allows", "takes at least", ""});
  const double peak = line.roofs.front().name == "matmul" ? line.roofs.front().per_second : 0;
  for (const Roof& roof : line.roofs) {
    const std::string_view unit = roof.memory ? "B" : roof.name == "matmul" ? "flop" : "";
    table.add({std::string(roof.name), amount(roof.work, unit), amount(roof.per_second, fmt::format("{}/s", unit)),
               intensity(roof), roof.memory && peak > 0 ? fmt::format("{:.1f}", peak / roof.per_second) : "–",
               amount(roof.flops_allowed, "flop/s"), duration(roof.seconds), &roof == &line.lowest() ? "lowest" : ""});
  }
  fmt::print("\n{}", table.text());
}

void print_sram(const Entry& entry) {
  Table table({"SRAM (counted)", "warps", "registers a thread", "of a block", "copied in", "from registers",
               "to products", "to registers", "sent out", "wavefronts", "of them conflicts"});
  double most_registers = 0;
  for (std::size_t k = 0; k < entry.sram.size(); ++k) {
    const SramTraffic& t = entry.sram[k];
    const RegisterUse& r = entry.registers[k];
    most_registers = std::max(most_registers, r.of_thread);
    table.add({entry.run.launches[k].name, with_separators(r.warps), fmt::format("{:.0f}", r.of_thread),
               human(r.of_block), human(t.copied.bytes), human(t.stored.bytes), human(t.operands.bytes),
               human(t.loaded.bytes), human(t.sent.bytes), human_count(t.wavefronts()), human_count(t.conflicts())});
  }
  fmt::print("\n{}", table.text());
  if (most_registers > registers_of_a_thread)
    fmt::print("A thread has {} registers: a kernel of these tiles would need more warps, or spill.\n",
               registers_of_a_thread);
}

void print_bounds_rooflines(const Specification& spec) {
  const Problem& p = spec.problem;
  const auto bytes = [](Bytes b) { return static_cast<double>(b.count()); };
  Table table(header("flop per byte (flop needed; SRAM, L2: closed form; DRAM: compulsory)"));
  for (const Chosen& chosen : spec.programs)
    if (const auto form = closed_form(chosen.program->name, p, chosen.tiling, spec.hardware, spec.pass)) {
      const auto sram = sram_closed_form(chosen.program->name, p, chosen.tiling, spec.hardware, spec.pass);
      const Work work{.flops = needed_flops(p, spec.pass),
                      .sram = sram ? bytes(sram->read + sram->written) : 0,
                      .l2 = bytes(form->moved()),
                      .dram = bytes(compulsory(p, spec.pass).moved())};
      add_program(table, std::string(chosen.program->name), roofline(work, p.element, spec.hardware));
    }
  fmt::print("\n{}", table.text());
}

}  // namespace fa::cli

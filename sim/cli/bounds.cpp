#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/commands.h"
#include "sim/cli/memory_tables.h"
#include "sim/cli/report_json.h"
#include "sim/cli/specification.h"
#include "sim/cli/table.h"

namespace fa::cli {
namespace {

// How far each GPU's memory lets n grow; a backward has its forward before it, and both must fit.
std::vector<Reach> reaches(const Specification& spec) {
  std::vector<Hardware> gpus;
  for (const std::string& id : hardware_names()) gpus.push_back(hardware_named(id));
  const auto same = [&](const Hardware& gpu) { return gpu.id == spec.hardware.id; };
  if (std::none_of(gpus.begin(), gpus.end(), same)) gpus.push_back(spec.hardware);

  std::vector<Reach> result;
  for (const Hardware& gpu : gpus) {
    Reach reach{gpu.id, gpu.dram, {}};
    for (const Chosen& chosen : spec.programs)
      reach.largest_n.push_back(largest_n(
          [&](int n) {
            Problem p = spec.problem;
            p.n_q = p.n_kv = n;
            const Bytes forward = footprint_of(*chosen.program, p, chosen.tiling, gpu, Pass::forward);
            if (spec.pass == Pass::forward) return forward;
            return std::max(forward, footprint_of(*chosen.program, p, chosen.tiling, gpu, Pass::backward));
          },
          gpu.dram));
    result.push_back(std::move(reach));
  }
  return result;
}

std::string gigabytes(Bytes bytes) { return fmt::format("{:.2f} GB", static_cast<double>(bytes.count()) / 1e9); }

void print_paper() {
  fmt::print("FA-1 paper (arXiv 2205.14135), Figure 2: GPT-2 medium, forward and backward of one layer\n{}\n\n",
             describe(paper_figure2_problem()));
  const std::vector<PaperFigure> figures = paper_figure2();
  Table table({"HBM traffic (closed form)", "program", "tiling", "forward", "backward", "total", "printed"});
  for (const PaperFigure& f : figures)
    table.add({std::string(f.what), std::string(f.program), describe(f.tiling), gigabytes(f.forward),
               gigabytes(f.backward), gigabytes(f.total()), fmt::format("{:.1f} GB", f.printed_gb)});
  fmt::print("{}", table.text());
  for (const PaperFigure& f : figures) {
    fmt::print("\n{} assumes that\n", f.what);
    for (std::string_view assumption : f.assumptions) fmt::print("  {}\n", assumption);
  }
}

}  // namespace

void bounds(const Arguments& a) {
  if (a.paper) {
    if (a.json)
      fmt::print("{}", paper_json());
    else
      print_paper();
    return;
  }
  const Specification spec = specify(a, true);
  const Problem& p = spec.problem;
  const std::vector<Reach> reach = reaches(spec);
  if (a.json) {
    std::vector<std::pair<std::string, Tiling>> chosen;
    for (const Chosen& c : spec.programs) chosen.emplace_back(c.program->name, c.tiling);
    fmt::print("{}", bounds_json(p, spec.pass, spec.hardware, chosen, reach));
    return;
  }
  const Bounds b = fa::bounds(p, spec.hardware);
  const Counts least = compulsory(p, spec.pass);
  Table forms({"requested bytes (closed form)", "tiling", "read", "written", "added", "total", "of compulsory",
               "SRAM read", "SRAM written"});
  for (const Chosen& chosen : spec.programs)
    if (const auto form = closed_form(chosen.program->name, p, chosen.tiling, spec.hardware, spec.pass)) {
      const auto sram = sram_closed_form(chosen.program->name, p, chosen.tiling, spec.hardware, spec.pass);
      forms.add({std::string(chosen.program->name), describe(chosen.tiling), human(form->read()),
                 human(form->written()), human(form->reduced()), human(form->moved()),
                 fmt::format("{:.2f}", form->moved() / least.moved()), sram ? human(sram->read) : "–",
                 sram ? human(sram->written) : "–"});
    }
  forms.add({"compulsory", "", human(least.read()), human(least.written()), human(least.reduced()),
             human(least.moved()), "1.00", "", ""});

  Table theory({"order of growth, numbers per head", "", "source"});
  theory.add({"standard attention  n·d + n²", human_count(b.standard), "FA-1 paper, Theorems 2 and 5"});
  theory.add({"FlashAttention  n²·d² / M", human_count(b.flash), "FA-1 paper, Theorems 2 and 5"});
  theory.add({b.large_sram ? "lower bound  n²·d² / M  (M ≥ d²)" : "lower bound  n²·d / √M  (M < d²)",
              human_count(b.lower), "Saha & Ye, arXiv 2402.07443 (forward)"});

  std::vector<std::string> header{
      spec.pass == Pass::forward ? "largest n that fits, forward" : "largest n that fits, forward and backward",
      "DRAM"};
  for (const Chosen& chosen : spec.programs) header.emplace_back(chosen.program->name);
  Table memory(header);
  for (const Reach& gpu : reach) {
    std::vector<std::string> row{gpu.gpu, human(gpu.dram)};
    for (int n : gpu.largest_n) row.push_back(with_separators(n));
    memory.add(row);
  }

  fmt::print("{}, {}\n{}: M = {} numbers of SRAM for each block, d² = {}\n\n{}\n{}", describe(p), name_of(spec.pass),
             spec.hardware.name, with_separators(static_cast<std::int64_t>(b.sram_elements)),
             with_separators(std::int64_t{p.d} * p.d), forms.text(), theory.text());
  if (!b.in_range) fmt::print("M is outside d ≤ M ≤ n·d, the range that the theorems are stated for.\n");
  print_bounds_rooflines(spec);
  fmt::print("\n{}", memory.text());
}

}  // namespace fa::cli

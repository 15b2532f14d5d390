#include <fmt/format.h>

#include "sim/cli/commands.h"
#include "sim/cli/report_json.h"
#include "sim/cli/specification.h"
#include "sim/cli/table.h"

namespace fa::cli {

void bounds(const Arguments& a) {
  const Specification spec = specify(a, true);
  const Problem& p = spec.problem;
  if (a.json) {
    std::vector<std::pair<std::string, Tiling>> chosen;
    for (const Chosen& c : spec.programs) chosen.emplace_back(c.program->name, c.tiling);
    fmt::print("{}", bounds_json(p, spec.hardware, chosen));
    return;
  }
  const Bounds b = fa::bounds(p, spec.hardware);
  const Counts least = compulsory(p);
  Table forms({"requested bytes (closed form)", "tiling", "read", "written", "total", "of compulsory"});
  for (const Chosen& chosen : spec.programs)
    if (const auto form = closed_form(chosen.program->name, p, chosen.tiling, spec.hardware))
      forms.add({std::string(chosen.program->name), describe(chosen.tiling), human(form->read()),
                 human(form->written()), human(form->moved()), fmt::format("{:.2f}", form->moved() / least.moved())});
  forms.add({"compulsory", "", human(least.read()), human(least.written()), human(least.moved()), "1.00"});

  Table theory({"order of growth, numbers per head", "", "source"});
  theory.add({"standard attention  n·d + n²", human_count(b.standard), "FA-1 paper, Theorem 2"});
  theory.add({"FlashAttention  n²·d² / M", human_count(b.flash), "FA-1 paper, Theorem 2"});
  theory.add({b.large_sram ? "lower bound  n²·d² / M  (M ≥ d²)" : "lower bound  n²·d / √M  (M < d²)",
              human_count(b.lower), "Saha & Ye, arXiv 2402.07443"});

  fmt::print("{}\n{}: M = {} numbers of SRAM for each block, d² = {}\n\n{}\n{}", describe(p), spec.hardware.name,
             with_separators(static_cast<std::int64_t>(b.sram_elements)), with_separators(std::int64_t{p.d} * p.d),
             forms.text(), theory.text());
  if (!b.in_range) fmt::print("M is outside d ≤ M ≤ n·d, the range that Theorem 2 is stated for.\n");
}

}  // namespace fa::cli

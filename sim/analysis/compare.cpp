#include "sim/analysis/compare.h"

#include "sim/analysis/closed_forms.h"

namespace fa {

Report report(const Run& run, const std::optional<Accuracy>& accuracy) {
  Report result;
  result.program = run.program;
  result.pass = run.pass;
  result.tiling = run.tiling;
  result.counts = run.counts();
  result.closed_form = closed_form(run.program, run.problem, run.tiling, run.hardware, run.pass);
  result.closed_form_holds = result.closed_form && result.closed_form->tensors == result.counts.tensors;
  result.sram_form = sram_closed_form(run.program, run.problem, run.tiling, run.hardware, run.pass);
  result.sram_peak = run.sram_peak();
  result.footprint = footprint(run);
  result.dram = dram_traffic(run);
  result.roofline = roofline(work_of(run, result.dram ? &*result.dram : nullptr), run.problem.element, run.hardware);
  result.accuracy = accuracy;
  return result;
}

}  // namespace fa

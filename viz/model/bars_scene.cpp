#include "viz/model/bars_scene.h"

#include <algorithm>

#include "viz/model/specs.h"

namespace fa::viz {

Problem whole_run_problem(const Problem& problem, int n) {
  Problem result = problem;
  result.batch = result.heads = result.kv_heads = 1;
  result.n_q = result.n_kv = n;
  return result;
}

ProgramBytes count_whole_run(const Program& program, const Problem& problem, const Hardware& hardware) {
  ProgramBytes result;
  result.program = program.name;
  result.title = program.title;
  result.tiling = default_tiling(program, problem, hardware);
  try {
    const Run counted = run(program, problem, result.tiling, hardware);
    result.counted = true;
    result.read = counted.counts().read();
    result.written = counted.counts().written();
    result.footprint = counted.footprint();
    result.sram = counted.sram_peak();
  } catch (const std::exception& error) {
    result.trouble = for_screen(error.what());
  }
  return result;
}

BarsScene bars_scene(const Problem& problem, std::vector<ProgramBytes> programs) {
  BarsScene scene;
  scene.n = problem.n_q;
  scene.causal = problem.causal;
  scene.d = problem.d;
  scene.programs = std::move(programs);
  for (const ProgramBytes& program : scene.programs)
    scene.longest = std::max(scene.longest, program.read + program.written);
  return scene;
}

}  // namespace fa::viz

#pragma once
// Runs with values, small enough to check by hand, and the bundled sentence.

#include <string>

#include "viz/model/outline.h"
#include "viz/model/screen.h"

namespace fa::viz {

struct Staged {
  Run run;
  Outline outline;

  State at(std::int64_t step) const { return replay(run, step); }
  TileScene tiles(std::int64_t step) const { return tile_scene(run, outline, at(step)); }
};

inline Staged staged(const std::string& program, const Problem& problem, const Tiling& tiling,
                     const Operands& operands) {
  Staged result;
  result.run = run(program_named(program), problem, tiling, hardware_named("h200"), {Detail::values, true}, &operands);
  result.outline = outline(result.run);
  return result;
}

inline Staged random_run(const std::string& program, int n_q = 12, int n_kv = 20, int rows_q = 4, int rows_kv = 8,
                         bool causal = false) {
  Problem problem;
  problem.n_q = n_q;
  problem.n_kv = n_kv;
  problem.d = 8;
  problem.causal = causal;
  problem.element = Element::fp32;
  return staged(program, problem, Tiling{rows_q, rows_kv}, random_operands(problem, 7));
}

// The first head of the bundled input, in 8 × 8 tiles.
inline Staged sentence(const std::string& program) {
  const Input one = head_of(read_input(bundled_input()), 0);
  Staged result = staged(program, one.problem, Tiling{8, 8}, one.operands);
  result.run.tokens = one.tokens;
  return result;
}

inline int count(const TileScene& scene, TileState state) {
  int found = 0;
  for (const ScoreTile& tile : scene.tiles) found += tile.state == state;
  return found;
}

// The step after the first event of this kind, at or after `from`.
inline std::int64_t step_after(const Run& run, Op op, std::int64_t from = 0) {
  for (std::size_t k = static_cast<std::size_t>(from); k < run.events.size(); ++k)
    if (run.events[k].op == op) return static_cast<std::int64_t>(k) + 1;
  return -1;
}

}  // namespace fa::viz

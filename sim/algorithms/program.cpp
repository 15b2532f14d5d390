#include "sim/algorithms/program.h"

#include <fmt/format.h>

namespace fa {

const Program& program_named(std::string_view name) {
  std::string names;
  for (const Program& program : programs) {
    if (program.name == name) return program;
    names += names.empty() ? "" : ", ";
    names += program.name;
  }
  throw InputError(fmt::format("--program {} is not known; choose one of {}.", name, names));
}

namespace {

// The released tiles, or those of the next larger head dimension; smaller ones where SRAM cannot hold them.
Tiling flash3_tiling(const Problem& p, const Hardware& hardware) {
  const std::string_view name = p.element == Element::e4m3 ? "flash3-fp8"
                                : p.causal                 ? "flash3-causal"
                                                           : "flash3-released";
  Tiling t = square_tiling(p.d);
  for (auto named = named_tilings.rbegin(); named != named_tilings.rend(); ++named)
    if (named->name == name && named->pass == Pass::forward && p.d <= named->d) t = named->tiling;
  while (t.flash3_bytes(p.d, p.element) > hardware.sram_per_block && t.rows_kv > 16)
    t.rows_kv = t.rows_kv > 32 ? t.rows_kv / 32 * 16 : 16;
  while (t.flash3_bytes(p.d, p.element) > hardware.sram_per_block && t.rows_q > 16) t.rows_q /= 2;
  return t;
}

}  // namespace

Tiling default_tiling(const Program& program, const Problem& problem, const Hardware& hardware, Pass pass) {
  const bool backward = pass == Pass::backward;
  if (program.forward == flash1) {
    const std::int64_t sram_elements = hardware.sram_per_block.count() / size_of(problem.element);
    if (!backward) return Tiling::from_sram(sram_elements, problem.d);
    // Algorithm 4 holds twice the tiles of Algorithm 1, so each gets half the room. Its dQ must travel as fp32 to be
    // exact: parts of it are larger than their sum.
    Tiling tiling = Tiling::from_sram(sram_elements / 2, problem.d);
    tiling.fp32_temporaries = true;
    return tiling;
  }
  if (backward && (program.backward == flash2_backward || program.backward == flash3_backward))
    return backward_tiling(problem.d, problem.element);
  if (!backward && program.forward == flash3) return flash3_tiling(problem, hardware);
  return square_tiling(problem.d);
}

}  // namespace fa

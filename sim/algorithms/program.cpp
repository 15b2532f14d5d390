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

Tiling default_tiling(const Program& program, const Problem& problem, const Hardware& hardware) {
  if (program.forward == flash1)
    return Tiling::from_sram(hardware.sram_per_block.count() / size_of(problem.element), problem.d);
  return square_tiling(problem.d);
}

}  // namespace fa

#pragma once
// What the command line means: a problem, a GPU, programs with their tilings, and perhaps real operands.

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/arguments.h"
#include "sim/sim.h"

namespace fa::cli {

struct Chosen {
  const Program* program;
  Tiling tiling;
  std::string tiling_name;  // "default", a named tiling, or "" for one of the user's own
};

struct Specification {
  Problem problem;
  Pass pass = Pass::forward;
  Hardware hardware;
  std::vector<Chosen> programs;
  std::optional<Input> input;  // the user's file
  std::string source;          // "smollm2.safetensors", "random, seed 1"
  std::string heads;           // "16, 5": what the file says about the head
};

// Throws InputError or SpecError with one line that names the argument and what would work.
Specification specify(const Arguments& arguments, bool all_programs);

// Whether to do the arithmetic: as asked, or if the problem is small enough to take about a second.
bool wants_values(const Arguments& arguments, const Problem& problem);

// The file's operands, or random ones; dO is random, and there for a backward only.
Operands operands_of(const Specification& specification, std::uint64_t seed);

// "128 × 128", with the name of the tiling and what else is special about it.
std::string describe(const Tiling& tiling);

}  // namespace fa::cli

#pragma once
// Requested HBM bytes of whole runs, program by program, at an n that the user chooses.

#include <optional>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace fa::viz {

struct ProgramBytes {
  std::string program, title;
  Tiling tiling;
  bool counted = false;  // false: the run is still to be made
  Bytes read, written;
  Bytes footprint;      // what stands in HBM while it runs
  Bytes sram;           // of one block
  std::string trouble;  // why there is no number
};

struct BarsScene {
  int n = 0;
  bool causal = false;
  int d = 0;
  std::vector<ProgramBytes> programs;
  Bytes longest;  // of read + written
};

// The problem that is counted: one head of n tokens, otherwise like `problem`.
Problem whole_run_problem(const Problem& problem, int n);

// Counts one program with the tiling that it uses when none is named.
ProgramBytes count_whole_run(const Program& program, const Problem& problem, const Hardware& hardware);

BarsScene bars_scene(const Problem& problem, std::vector<ProgramBytes> programs);

}  // namespace fa::viz

#pragma once
// Runs a program on a machine, and says how exact its result is.

#include <cstdint>
#include <vector>

#include "sim/algorithms/program.h"
#include "sim/algorithms/quantise.h"
#include "sim/algorithms/reference.h"
#include "sim/record/measurement.h"
#include "sim/record/operands.h"
#include "sim/record/run.h"
#include "sim/record/state.h"

namespace fa {

struct RunOptions {
  Detail detail = Detail::totals;
  bool record_values = false;  // keep every event's result, for replay and for the viewer; with Detail::values only
  Pass pass = Pass::forward;
  Quantisation quantisation = {};  // of e4m3
};

struct Executed {
  Run run;
  Output output;        // of a forward; values only with Detail::values
  Gradients gradients;  // of a backward; values only with Detail::values
};

// Throws SpecError with a full sentence if the specification cannot work. `operands` are needed for Detail::values.
// A backward starts where the program's own forward ended: what that left stands in HBM and is counted when it is read.
Executed execute(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                 const RunOptions& options = {}, const Operands* operands = nullptr);

Run run(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
        const RunOptions& options = {}, const Operands* operands = nullptr);

// The run that a measurement is compared with: its program, problem and pass, with the tiling of the kernel that was
// measured, which is one of those that this repository compiles, or else the program's own with the measured tiles.
// Throws InputError for a program or pass that is not known, SpecError for a tile that does not fit.
Run run_of(const Measurement& measurement, const Hardware& hardware, Detail detail);

// The machine after the first `steps` events: what replay(run, steps) must equal.
State run_until(std::int64_t steps, const Program& program, const Problem& problem, const Tiling& tiling,
                const Hardware& hardware, const RunOptions& options, const Operands* operands);

// The bytes that stand in HBM while that pass runs; quick at any size, since no block runs.
Bytes footprint_of(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                   Pass pass);

// The truth that results are held against: attention in double on the operands as rounded to the element type, and
// what plain attention in that element type makes of them. For every head.
struct Truth {
  std::vector<Reference> reference;
  std::vector<Matrix> plain;
  ReferenceGradients gradients;  // if the operands have a dO
  PlainGradients plain_gradients;
};
Truth truth_of(const Problem& problem, const Operands& operands);

// The error of a forward's O, and of its LSE if it leaves one; or of a backward's dQ, dK and dV.
Accuracy accuracy(const Executed& executed, const Truth& truth);

}  // namespace fa

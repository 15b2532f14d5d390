#pragma once
// The kernels that naive and eager attention share: matrix products tiled through SRAM, and a softmax over whole rows.

#include "sim/config/tiling.h"
#include "sim/machine/machine.h"

namespace fa::unfused {

HbmTensor scores(Machine& machine, const Inputs& in, const Tiling& t, double scale);
HbmTensor softmax(Machine& machine, const Problem& p, const Tiling& t, HbmTensor& S, bool causal);
void weighted_values(Machine& machine, const Inputs& in, const Tiling& t, HbmTensor& P, Output& out);

}  // namespace fa::unfused

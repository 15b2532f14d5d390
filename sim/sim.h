#pragma once
// The front door of the simulator: what lessons, the visualizer and the programs may include.
//
//   Hardware gpu = hardware_named("h200");
//   Problem problem{.heads = 16, .kv_heads = 16, .n_q = 4096, .n_kv = 4096, .d = 128};
//   Run run = fa::run(program_named("flash2"), problem, square_tiling(128), gpu);
//   run.counts().read();                                       // bytes requested from HBM
//   closed_form("flash2", problem, run.tiling, gpu)->read();   // the same number, without running it

#include "sim/algorithms/program.h"
#include "sim/algorithms/reference.h"
#include "sim/algorithms/run.h"
#include "sim/analysis/banks.h"
#include "sim/analysis/bounds.h"
#include "sim/analysis/cache.h"
#include "sim/analysis/closed_forms.h"
#include "sim/analysis/compare.h"
#include "sim/analysis/footprint.h"
#include "sim/analysis/hazards.h"
#include "sim/analysis/largest_n.h"
#include "sim/analysis/measured.h"
#include "sim/analysis/paper.h"
#include "sim/analysis/perfetto.h"
#include "sim/analysis/replay.h"
#include "sim/analysis/roofline.h"
#include "sim/analysis/sectors.h"
#include "sim/analysis/sram.h"
#include "sim/analysis/sram_forms.h"
#include "sim/analysis/timeline.h"
#include "sim/config/check.h"
#include "sim/config/hardware.h"
#include "sim/config/json.h"
#include "sim/config/pass.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"
#include "sim/core/error.h"
#include "sim/core/files.h"
#include "sim/record/input.h"
#include "sim/record/json.h"
#include "sim/record/measurement.h"
#include "sim/record/operands.h"
#include "sim/record/run.h"
#include "sim/record/state.h"

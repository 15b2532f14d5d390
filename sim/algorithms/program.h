#pragma once
// The programs: plain functions on a machine, and one table that names them.

#include <array>
#include <string_view>

#include "sim/config/hardware.h"
#include "sim/config/tiling.h"
#include "sim/machine/machine.h"

namespace fa {

using ProgramText = void (*)(Machine&, const Inputs&, const Tiling&, Output&);

void naive(Machine&, const Inputs&, const Tiling&, Output&);
void eager(Machine&, const Inputs&, const Tiling&, Output&);
void eager_alpha(Machine&, const Inputs&, const Tiling&, Output&);
void flash1(Machine&, const Inputs&, const Tiling&, Output&);
void flash2(Machine&, const Inputs&, const Tiling&, Output&);

struct Program {
  std::string_view name;
  std::string_view title;
  ProgramText forward;
  std::string_view summary;
};

inline constexpr std::array programs{
    Program{"naive", "Naive", naive, "three kernels; S and P go through HBM"},
    Program{"eager", "Eager", eager, "a framework's unfused passes: scale, mask, softmax, dropout each through HBM"},
    Program{"eager_alpha", "Eager, scale in GEMM", eager_alpha, "eager with the scale inside the first product"},
    Program{"flash1", "FlashAttention-1", flash1, "K, V outer loop; O, m and l travel with every pass"},
    Program{"flash2", "FlashAttention-2", flash2, "Q outer loop; O stays in registers until its rows are done"},
};

// The program of that name, or an InputError that lists the names.
const Program& program_named(std::string_view name);

// The tiling that a program uses when none is named: FA-1's own rule for flash1, squares for the rest.
Tiling default_tiling(const Program& program, const Problem& problem, const Hardware& hardware);

}  // namespace fa

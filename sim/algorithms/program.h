#pragma once
// The programs: plain functions on a machine, and one table that names them.

#include <array>
#include <string_view>

#include "sim/config/hardware.h"
#include "sim/config/tiling.h"
#include "sim/machine/machine.h"

namespace fa {

using ProgramText = void (*)(Machine&, const Inputs&, const Tiling&, Output&);
using BackwardText = void (*)(Machine&, const BackwardInputs&, const Tiling&, Gradients&);

void naive(Machine&, const Inputs&, const Tiling&, Output&);
void eager(Machine&, const Inputs&, const Tiling&, Output&);
void eager_alpha(Machine&, const Inputs&, const Tiling&, Output&);
void flash1(Machine&, const Inputs&, const Tiling&, Output&);
void flash2(Machine&, const Inputs&, const Tiling&, Output&);
void flash2_stored(Machine&, const Inputs&, const Tiling&, Output&);
void flash3(Machine&, const Inputs&, const Tiling&, Output&);

void naive_backward(Machine&, const BackwardInputs&, const Tiling&, Gradients&);
void eager_backward(Machine&, const BackwardInputs&, const Tiling&, Gradients&);
void eager_alpha_backward(Machine&, const BackwardInputs&, const Tiling&, Gradients&);
void flash1_backward(Machine&, const BackwardInputs&, const Tiling&, Gradients&);
void flash2_backward(Machine&, const BackwardInputs&, const Tiling&, Gradients&);
void flash3_backward(Machine&, const BackwardInputs&, const Tiling&, Gradients&);

struct Program {
  std::string_view name;
  std::string_view title;
  ProgramText forward;
  std::string_view summary;
  BackwardText backward = nullptr;  // none: the program has a forward only
};

inline constexpr std::array programs{
    Program{"naive", "Naive", naive, "three kernels; S and P go through HBM", naive_backward},
    Program{"eager", "Eager", eager, "a framework's unfused passes: scale, mask, softmax, dropout each through HBM",
            eager_backward},
    Program{"eager_alpha", "Eager, scale in GEMM", eager_alpha, "eager with the scale inside the first product",
            eager_alpha_backward},
    Program{"flash1", "FlashAttention-1", flash1, "K, V outer loop; O, m and l travel with every pass",
            flash1_backward},
    Program{"flash2", "FlashAttention-2", flash2, "Q outer loop; O stays in registers until its rows are done",
            flash2_backward},
    Program{"flash2_stored", "FlashAttention-2, P kept", flash2_stored,
            "flash2 that keeps P in HBM; its backward reads P instead of computing it again", flash2_backward},
    Program{"flash3", "FlashAttention-3", flash3, "flash2 by warpgroups with roles: one loads, the others take turns",
            flash3_backward},
};

// The program of that name, or an InputError that lists the names.
const Program& program_named(std::string_view name);

// The tiling that a program uses when none is named: FA-1's own rule for flash1, FA-2's choice for its backward, squares
// for the rest.
Tiling default_tiling(const Program& program, const Problem& problem, const Hardware& hardware,
                      Pass pass = Pass::forward);

}  // namespace fa

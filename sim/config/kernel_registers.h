#pragma once
// Registers of a thread, as nvcc 13.0 gave them to our kernels for sm_90a (cuobjdump -res-usage).
//
// Of a block's registers the simulator knows what the program opens, not what addresses and the order of instructions
// take besides. 132 registers instead of 128 leave room for one block of 256 threads where two would fit: so where the
// number of blocks hangs on that, the compiler's word is kept here.

#include <array>
#include <string_view>

namespace fa {

inline constexpr int row_in_pieces = -1;  // a kernel that takes longer rows than it has places, piece by piece

struct KernelRegisters {
  std::string_view launch;
  int width;    // that it is compiled for: d, or the places of a row; 0: all
  int threads;  // of a block
  int registers;
};

// Unfused attention (kernels/naive).
inline constexpr std::array naive_registers{
    KernelRegisters{"S = Q Kᵀ", 0, 256, 128},
    KernelRegisters{"dP = dO Vᵀ", 0, 256, 128},
    KernelRegisters{"P = exp(Q Kᵀ − LSE)", 0, 256, 128},
    KernelRegisters{"O = P V", 64, 256, 63},
    KernelRegisters{"O = P V", 128, 256, 132},
    KernelRegisters{"O = P V", 256, 256, 242},
    KernelRegisters{"dQ = dS K", 64, 256, 63},
    KernelRegisters{"dQ = dS K", 128, 256, 132},
    KernelRegisters{"dQ = dS K", 256, 256, 242},
    KernelRegisters{"dV = Pᵀ dO", 64, 256, 57},
    KernelRegisters{"dV = Pᵀ dO", 128, 256, 132},
    KernelRegisters{"dV = Pᵀ dO", 256, 256, 240},
    KernelRegisters{"dK = dSᵀ Q", 64, 256, 57},
    KernelRegisters{"dK = dSᵀ Q", 128, 256, 132},
    KernelRegisters{"dK = dSᵀ Q", 256, 256, 240},
    KernelRegisters{"P = softmax(S)", 2048, 256, 32},
    KernelRegisters{"P = softmax(S)", 8192, 256, 55},
    KernelRegisters{"P = softmax(S)", 32768, 512, 104},
    KernelRegisters{"dS = P ∘ (dP − D)", 2048, 256, 32},
    KernelRegisters{"dS = P ∘ (dP − D)", 8192, 256, 116},
    KernelRegisters{"dS = P ∘ (dP − D)", 16384, 256, 192},
    KernelRegisters{"dS = P ∘ (dP − D)", row_in_pieces, 256, 46},
};

}  // namespace fa

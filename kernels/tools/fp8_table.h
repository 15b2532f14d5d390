// How far 8 bits are from attention in double, method by method: the error table of the FA-3 paper, measured.
#pragma once

#include <string>
#include <vector>

#include "kernels/attention.h"

namespace fa::kernels {

struct Fp8Error {
  std::string method;
  double rmse = 0;       // of O against double, over all numbers
  double published = 0;  // FA-3 paper, section 4.3
};
struct Fp8Table {
  std::string title;
  std::vector<Fp8Error> rows;
};

// Throws with a sentence if the device has no kernel for it.
Fp8Table fp8_table(const Device& device, std::uint64_t seed);

}  // namespace fa::kernels

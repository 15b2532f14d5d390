// How far a kernel's output is from the reference, judged on the GPU and safe with NaN.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/tools/tensor.h"

namespace fa::kernels {

// How far `out` is from the reference, over all its numbers. r is the reference rounded to the element type.
struct Difference {
  double error = 0;             // max |out - reference|
  double plain_error = 0;       // max |plain - reference|
  double stored_error = 0;      // max |r - reference|: what even the right answer is off by
  double rounding = 0;          // max |(r + 0.3 - 0.3) - r|: one rounding at 0.3
  std::int64_t wrong_kind = 0;  // NaN or inf where the reference has a number, or the other way round

  // DESIGN.md, "Correct". Plain attention that was luckier than the right answer is held to be as good as that.
  double tolerance() const { return 2 * std::max(plain_error, stored_error) + 2 * rounding; }
};
Difference compare(const Tensor& out, const DeviceBuffer& reference, const DeviceBuffer& plain);

// LSE, packed. Errors are relative: |out - reference| / max(1, |reference|).
Difference compare_lse(const float* out, const DeviceBuffer& reference, const DeviceBuffer& plain);

// The numbers of a tensor on the host, [batch, heads, n, d], times their scales; and of a packed array of doubles.
std::vector<double> host_numbers(const Tensor& tensor, const Scales& scales = {});
std::vector<double> host_numbers(const DeviceBuffer& doubles);

}  // namespace fa::kernels

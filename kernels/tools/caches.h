// The state of the caches before and after a measured kernel.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/tools/cuda.h"

namespace fa::kernels {

class Caches {
 public:
  explicit Caches(const Device& device);

  // Reads 8 times the L2's size of memory that nobody else uses: whatever stood there is gone, and what was dirty has
  // been written back. (Writing instead would leave dirty lines for the next kernel to pay for.)
  void read_other_memory() const;
  // The same, after lines that a kernel asked L2 to keep (flash3's K and V) are like all others again, and after other
  // code has passed through every SM: a kernel that ran just before would find its instructions there, and so be up to
  // 7 % faster (flash3, n 512) than one that follows others. Outside of ranges.
  void make_cold() const;

 private:
  int multiprocessors_;
  DeviceBuffer memory_, sink_;
};

}  // namespace fa::kernels

// The state of L2 before and after a measured kernel.
#pragma once

#include <cstdint>

#include "kernels/tools/cuda.h"

namespace fa::kernels {

class Caches {
 public:
  explicit Caches(std::int64_t l2_bytes);

  // Reads 8 times the L2's size of memory that nobody else uses: whatever stood there is gone, and what was dirty has
  // been written back. (Writing instead would leave dirty lines for the next kernel to pay for.)
  void read_other_memory() const;
  // The same, after lines that a kernel asked L2 to keep (flash3's K and V) are like all others again; outside of ranges.
  void make_cold() const;

 private:
  DeviceBuffer memory_, sink_;
};

}  // namespace fa::kernels

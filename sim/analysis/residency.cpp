#include "sim/analysis/residency.h"

#include <algorithm>

namespace fa {

int blocks_per_sm(const Launch& launch, const Hardware& hardware) {
  if (launch.persistent) return 1;
  constexpr std::int64_t most = 32, warps_each = 4;
  constexpr Bytes reserved(1024);  // of SRAM, for each block (CUDA programming guide)
  Bytes registers;
  for (const BufferInfo& buffer : launch.buffers)
    if (buffer.level == Level::registers) registers += buffer.bytes;
  std::int64_t blocks = most;
  const auto limit = [&](Bytes have, Bytes need) {
    if (need > Bytes(0)) blocks = std::min(blocks, have.count() / need.count());
  };
  limit(hardware.sram_per_sm, launch.sram_peak + reserved);
  limit(hardware.registers_per_sm, registers);
  if (hardware.max_warps > 0) blocks = std::min(blocks, hardware.max_warps / warps_each);
  return static_cast<int>(std::max<std::int64_t>(1, blocks));
}

}  // namespace fa

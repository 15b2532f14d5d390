#pragma once
// What moves between SRAM, registers and tensor cores, and how many turns SRAM takes for it. Bytes are counted: they stand
// in the record. Wavefronts follow from them and from how a tile lies (banks.h).

#include <cstdint>
#include <vector>

#include "sim/analysis/banks.h"
#include "sim/record/run.h"

namespace fa {

// Bytes, and the wavefronts of up to 128 bytes that they take.
struct SramMove {
  Bytes bytes;
  double wavefronts = 0;
  double conflicts = 0;  // of them: what the tile's layout costs

  SramMove& operator+=(const SramMove& other);
};
SramMove operator*(const SramMove& move, std::int64_t times);

struct SramTraffic {
  SramMove copied;    // in, from HBM, passing no registers: cp.async, TMA
  SramMove stored;    // in, from registers: P, dS, what leaves for HBM, partial sums, row statistics
  SramMove operands;  // out, to matrix products: through registers by ldmatrix, or straight from SRAM by wgmma
  SramMove loaded;    // out, to registers, for all else
  SramMove sent;      // out, to HBM, passing no registers: TMA

  Bytes written() const { return copied.bytes + stored.bytes; }
  Bytes read() const { return operands.bytes + loaded.bytes + sent.bytes; }
  double wavefronts() const;
  double conflicts() const;
  SramTraffic& operator+=(const SramTraffic& other);
};
SramTraffic operator*(const SramTraffic& traffic, std::int64_t times);

// How a buffer lies in SRAM: as our kernels' tiles do.
TileLayout layout_of(const BufferInfo& info);

// What one event of a launch asks of SRAM.
class SramPort {
 public:
  explicit SramPort(const Launch& launch);
  SramTraffic of(const Event& event) const;

 private:
  // Wavefronts over those of a layout without conflicts.
  struct Conflicts {
    double operand = 1, fragments = 1;
  };
  SramMove operands(const Event& event) const;
  SramMove fragments(BufferId from, BufferId to, Bytes bytes) const;

  const Launch& launch_;
  bool products_;                     // whether it has any
  std::vector<Conflicts> conflicts_;  // of each buffer
};

// Of each launch. The run must have events (Detail::kinds or above).
std::vector<SramTraffic> sram_traffic(const Run& run);
SramTraffic total_sram_traffic(const Run& run);  // of all launches

// Warps of a block of the launch; where lanes are warpgroups, those of all lanes.
std::int64_t warps_of(const Launch& launch);

inline constexpr int registers_of_a_thread = 255;  // at most, since sm_35

struct RegisterUse {
  Bytes of_block;          // the most that must be held between two events of a block, by all its threads
  double of_thread = 0;    // 32-bit registers of the lane that holds most; addresses and other numbers come on top
  std::int64_t warps = 0;  // of a block
};

// Of each launch: tiles whose numbers are still wanted; two that are never wanted together (S and P) share a place.
std::vector<RegisterUse> register_use(const Run& run);

}  // namespace fa

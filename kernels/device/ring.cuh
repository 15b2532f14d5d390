// A ring of buffers between a producer, who fills them through the copy engine, and consumers, who use them up.
//
// Each buffer has two mbarriers: full (the copy has landed) and empty (every consumer is done with it). The producer waits
// for empty, consumers for full; each side counts through the ring for itself. On the first way round every buffer is
// empty, though nobody said so: the producer waits for the opposite parity.
#pragma once

#include "kernels/device/ptx.cuh"

namespace fa::kernels {

template <int stages>
struct Ring {
  static constexpr int bytes = 2 * 8 * stages;  // of barriers

  std::uint32_t barriers;  // shared address: full[stages], empty[stages]
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ std::uint32_t full() const { return barriers + stage * 8; }
  __device__ __forceinline__ std::uint32_t empty() const { return barriers + (stages + stage) * 8; }
  __device__ __forceinline__ void advance() {
    if (++stage == stages) stage = 0, parity ^= 1;
  }

  // By one thread, before any other use. `releases`: arrivals that empty a buffer, one for each warp of the consumers;
  // `fills`: arrivals that fill it.
  __device__ __forceinline__ void init(int releases, int fills = 1) const {
    for (int s = 0; s < stages; ++s) {
      mbarrier_init(barriers + s * 8, fills);
      mbarrier_init(barriers + (stages + s) * 8, releases);
    }
  }

  // Producer: waits for an empty buffer and announces what will land in it.
  __device__ __forceinline__ void wait_empty() const { mbarrier_wait(empty(), parity ^ 1); }
  __device__ __forceinline__ void expect(int bytes_to_come) const { mbarrier_arrive_expecting(full(), bytes_to_come); }

  // Consumer: waits for a full buffer; later, each warp releases it.
  __device__ __forceinline__ void wait_full() const { mbarrier_wait(full(), parity); }
  __device__ __forceinline__ void release() const {
    if (threadIdx.x % 32 == 0) mbarrier_arrive(empty());
  }
  __device__ __forceinline__ void give_back() {
    release();
    advance();
  }
};

}  // namespace fa::kernels

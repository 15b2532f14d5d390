#include <algorithm>

#include "kernels/tools/caches.h"
#include "kernels/tools/number.cuh"

namespace fa::kernels {
namespace {

__global__ void read_all(const uint4* words, std::int64_t count, std::uint32_t* sink) {
  std::uint32_t mix = 0;
  FA_GRID_LOOP(i, count) {
    const uint4 word = words[i];
    mix ^= word.x ^ word.y ^ word.z ^ word.w;
  }
  if (mix == 0x5eed) *sink = mix;  // never true for zeros, but the compiler cannot know: the reads stay
}

}  // namespace

Caches::Caches(std::int64_t l2_bytes)
    : memory_(static_cast<std::size_t>(std::max<std::int64_t>(8 * l2_bytes, 256 << 20))), sink_(16) {
  must(cudaMemset(memory_.data(), 0, memory_.bytes()), "preparing the caches");
}

void Caches::read_other_memory() const {
  const auto words = static_cast<std::int64_t>(memory_.bytes() / sizeof(uint4));
  read_all<<<2048, loop_threads>>>(memory_.as<uint4>(), words, sink_.as<std::uint32_t>());
  must(cudaGetLastError(), "preparing the caches");
}

void Caches::make_cold() const {
  must(cudaDeviceSynchronize(), "preparing the caches");
  must(cudaCtxResetPersistingL2Cache(), "preparing the caches");
  read_other_memory();
}

}  // namespace fa::kernels

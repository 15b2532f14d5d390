#include "sim/analysis/residency.h"

#include <algorithm>
#include <optional>

#include "sim/analysis/sram.h"
#include "sim/config/kernel_registers.h"

namespace fa {
namespace {

// For addresses, operands on their way to the tensor cores, factors of rows: 32 registers a lane, of 4 bytes.
constexpr Bytes at_work = Bytes(32) * 4 * 32;  // of a warp

int warps_of_block(const Launch& launch) { return groups_of(launch) * warps_of_group(launch); }

Bytes registers_of(const Launch& launch) {
  Bytes kept, passing;
  for (const BufferInfo& buffer : launch.buffers) {
    if (buffer.level != Level::registers) continue;
    if (buffer.fill)
      kept += buffer.bytes;
    else
      passing = std::max(passing, buffer.bytes);
  }
  return kept + passing + at_work * warps_of_block(launch);
}

// What the compiler gave a block, if this is one of our kernels and that is kept.
std::optional<Bytes> compiled_registers(const Run& run, const Launch& launch) {
  constexpr std::int64_t each = 8;  // a thread's are handed out by eights
  if (run.tiling.kernel_d == 0 || run.program != "naive") return std::nullopt;
  const int n = run.problem.n_kv,
            gradient = n <= Tiling::gradient_length(n) ? Tiling::gradient_length(n) : row_in_pieces;
  for (const KernelRegisters& kernel : naive_registers)
    for (int width : {0, run.tiling.kernel_d, run.pass == Pass::forward ? Tiling::row_length(n) : gradient})
      if (launch.name == kernel.launch && kernel.width == width)
        return Bytes(ceil_div(kernel.registers, each) * each * 4) * kernel.threads;
  return std::nullopt;
}

}  // namespace

int group_of(const Launch& launch, BufferId buffer) {
  const auto name = [&](BufferId id) -> const std::string& {
    return launch.buffers[static_cast<std::size_t>(id)].name;
  };
  int before = 0;
  for (BufferId id = 0; id < buffer; ++id) before += name(id) == name(buffer);
  return before;
}

int groups_of(const Launch& launch) {
  int groups = 1;
  if (launch.lanes.empty())
    for (std::size_t id = 0; id < launch.buffers.size(); ++id)
      groups = std::max(groups, group_of(launch, static_cast<BufferId>(id)) + 1);
  return groups;
}

int warps_of_group(const Launch& launch) { return static_cast<int>(std::max<std::int64_t>(4, warps_of(launch))); }

int blocks_per_sm(const Run& run, const Launch& launch) {
  if (launch.persistent) return 1;
  const Hardware& hardware = run.hardware;
  constexpr std::int64_t most = 32;
  constexpr Bytes reserved(1024);  // of SRAM, for each block (CUDA programming guide)
  std::int64_t blocks = most;
  const auto limit = [&](Bytes have, Bytes need) {
    if (need > Bytes(0)) blocks = std::min(blocks, have.count() / need.count());
  };
  limit(hardware.sram_per_sm, launch.sram_peak + reserved);
  const std::optional<Bytes> compiled = compiled_registers(run, launch);
  limit(hardware.registers_per_sm, compiled.value_or(registers_of(launch)));
  if (hardware.max_warps > 0) blocks = std::min<std::int64_t>(blocks, hardware.max_warps / warps_of_block(launch));
  return static_cast<int>(std::max<std::int64_t>(1, blocks));
}

}  // namespace fa

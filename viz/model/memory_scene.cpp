#include "viz/model/memory_scene.h"

namespace fa::viz {

MemoryScene memory_scene(const Run& run, const State& state, const TileScene& tiles) {
  const Hardware& gpu = run.hardware;
  MemoryScene scene;
  scene.hardware = gpu.name;
  scene.dram = gpu.dram;
  scene.l2 = gpu.l2;
  scene.sram_per_block = gpu.sram_per_block;
  scene.registers_per_sm = gpu.registers_per_sm;
  scene.dram_gb_per_s = gpu.dram_gb_per_s;
  scene.l2_partitions = gpu.l2_partitions;
  scene.transfer = tiles.transfer;
  for (const Allocation& allocation : run.allocations) {
    TensorTraffic traffic;
    traffic.tensor = allocation.tensor;
    traffic.read = state.counts[allocation.tensor].read;
    traffic.written = state.counts[allocation.tensor].written;
    if (scene.transfer && scene.transfer->tensor == allocation.tensor)
      (scene.transfer->to_chip ? traffic.reads_now : traffic.writes_now) = true;
    scene.tensors.push_back(traffic);
  }
  scene.read = state.counts.read();
  scene.written = state.counts.written();
  for (const Slot& slot : tiles.slots) {
    if (slot.aside) continue;
    (slot.level == Level::sram ? scene.sram : scene.registers).push_back(slot);
    if (slot.level == Level::sram) scene.sram_used += slot.bytes;
  }
  scene.sram_read = state.counts.sram_read;
  scene.sram_written = state.counts.sram_written;
  scene.exponentials = state.counts.exponentials;
  scene.flops = state.counts.flops;
  return scene;
}

}  // namespace fa::viz

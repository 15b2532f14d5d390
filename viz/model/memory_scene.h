#pragma once
// The levels of memory, with the bytes that each tensor has moved so far.

#include <optional>
#include <string>
#include <vector>

#include "viz/model/tile_scene.h"

namespace fa::viz {

struct TensorTraffic {
  Tensor tensor = Tensor::none;
  Bytes read, written;
  bool reads_now = false, writes_now = false;  // by the event just done
};

struct MemoryScene {
  std::string hardware;
  Bytes dram, l2, sram_per_block, registers_per_sm;
  double dram_gb_per_s = 0;
  int l2_partitions = 0;
  std::optional<DramTraffic> behind_l2;  // of the whole run, modelled; nothing if the GPU's L2 is not known

  std::vector<TensorTraffic> tensors;  // those that this program has in HBM
  Bytes read, written;
  std::optional<Transfer> transfer;

  std::vector<Slot> sram, registers;  // of the present launch
  Bytes sram_used;                    // all its buffers
  Bytes sram_read, sram_written;
  std::int64_t exponentials = 0;
  Flops flops;

  std::string beside;  // the other program's name; empty if there is none
  Bytes beside_read, beside_written;
};

MemoryScene memory_scene(const Run& run, const State& state, const TileScene& tiles);

}  // namespace fa::viz

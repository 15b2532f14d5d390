#pragma once
// The machine as it stands between two events: what each buffer of the current block holds, and the bytes so far.

#include <cstdint>
#include <vector>

#include "sim/record/counts.h"

namespace fa {

struct BufferState {
  BufferId id = no_buffer;
  bool filled = false;           // false: nothing has been put there since the block began
  Tensor tensor = Tensor::none;  // if it holds a tile of an HBM tensor
  Rows rows, cols;
  std::vector<float> values;  // rows × cols, if the run recorded values

  friend bool operator==(const BufferState&, const BufferState&) = default;

  void clear() {
    filled = false;
    tensor = Tensor::none;
    rows = cols = {};
    values.clear();
  }
};

struct State {
  std::int64_t step = 0;  // events done
  int launch = -1;        // −1: nothing has been launched
  std::int64_t block = -1;
  std::vector<BufferState> buffers;  // those of the current block that hold something, by id
  Counts counts;

  // What buffer `id` holds; null if nothing.
  const BufferState* find(BufferId id) const {
    for (const BufferState& buffer : buffers)
      if (buffer.id == id) return &buffer;
    return nullptr;
  }

  friend bool operator==(const State&, const State&) = default;
};

}  // namespace fa

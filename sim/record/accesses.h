#pragma once
// Which tiles each block of a launch moved, and in what order: the facts that a model of the L2 needs, small enough to
// keep at any size.
//
// A block is a short list of runs: tiles of one tensor that lie side by side and were moved one after another, at equal
// intervals (others may have been moved between them). Blocks that differ from the one before by the same step (a grid, walked tile by
// tile) are kept as one stretch, so a grid of a million blocks takes a few kilobytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/config/tiling.h"
#include "sim/record/event.h"

namespace fa {

struct Access {
  Tensor tensor = Tensor::none;
  Op op = Op::load;         // load, store or reduce
  Head head = 0;            // the query head that is served; a tensor of kv heads is used at the kv head of it
  bool along_cols = false;  // the tiles lie side by side, else one below the other
  bool descending = false;  // the last comes first
  TileShape tile;           // the largest of them
  Rows rows, cols;          // of the tensor; what the tiles cover together
  std::int64_t tiles = 0;
  std::int64_t first = 0, last = 0;  // when the first and the last were moved: after so many other moves of the block

  friend bool operator==(const Access&, const Access&) = default;
};

using BlockAccesses = std::vector<Access>;  // by `first`

class Accesses {
 public:
  // The next event of the launch, in order; events that move nothing are ignored.
  void add(const Event& event);

  std::int64_t blocks() const { return blocks_ + (open_.empty() ? 0 : 1); }
  std::size_t stretches() const { return stretches_.size() + (open_.empty() ? 0 : 1); }  // what it takes to keep them

  // The tile that the launch moves of a tensor; the smaller one if it reads and writes it by different ones. 0 × 0: none.
  TileShape tile(Tensor tensor) const;

  // Walks the blocks in launch order, those that moved something:
  //   for (Accesses::Cursor at(accesses); const BlockAccesses* block = at.next();) …
  class Cursor {
   public:
    explicit Cursor(const Accesses& accesses) : accesses_(&accesses) {}
    const BlockAccesses* next();  // null after the last; what it points to changes with the next call

   private:
    const Accesses* accesses_;
    std::size_t stretch_ = 0;
    std::int64_t done_ = 0;  // blocks of the stretch
    bool last_given_ = false;
    BlockAccesses block_;
  };

 private:
  // From one block to the next.
  struct Step {
    int rows_begin = 0, rows_end = 0, cols_begin = 0, cols_end = 0;
    std::int64_t head = 0, tiles = 0, first = 0, last = 0;

    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Stretch {
    BlockAccesses first;
    std::vector<Step> steps;  // one for each access
    std::int64_t count = 1;
  };

  void close();
  bool joins(Stretch& stretch) const;

  std::vector<Stretch> stretches_;
  std::int64_t blocks_ = 0;  // in the stretches
  std::int64_t open_block_ = -1, moves_ = 0;
  BlockAccesses last_, open_;  // the last block in the stretches; the one that may still grow
  // Where in `open_` the latest run of a tensor stands, by how it was moved (load, store, reduce): a block may hold many.
  std::array<std::array<std::int32_t, 3>, tensor_count> latest_ = nothing_open();
  static constexpr std::array<std::array<std::int32_t, 3>, tensor_count> nothing_open() {
    std::array<std::array<std::int32_t, 3>, tensor_count> none{};
    for (auto& tensor : none) tensor = {-1, -1, -1};
    return none;
  }
};

}  // namespace fa

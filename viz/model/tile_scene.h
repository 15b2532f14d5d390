#pragma once
// The score grid with its Q, K, V, O strips, what stands in HBM, and what the block holds on chip.

#include <optional>
#include <string>
#include <vector>

#include "viz/model/outline.h"

namespace fa::viz {

enum class TileState { to_come, done, now, skipped };

struct ScoreTile {
  Rows rows, cols;
  TileState state = TileState::to_come;
};

// The grid in squares of fold × fold scores, so that a long sequence does not cost a rectangle for every score.
struct Cells {
  int rows = 0, cols = 0, fold = 1;
  std::vector<float> weight;  // exp(S − m), in [0, 1], with the m of this moment; −1: not computed or masked

  float at(int row, int col) const {
    return weight[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(col)];
  }
};

// One operand beside the grid.
struct Strip {
  Tensor tensor = Tensor::none;
  int length = 0;
  std::vector<Rows> done;  // O only: rows that will not change any more
  Rows now;                // on chip
};

// A named buffer of the block.
struct Slot {
  std::string name;              // "Q₂"
  std::string holds;             // "rows 8–15"; "empty"
  Tensor tensor = Tensor::none;  // whose colour it wears
  Level level = Level::sram;
  TileShape shape;
  Bytes bytes;
  bool filled = false, written = false, read = false;  // the last two: by the event just done
  bool aside = false;                                  // registers of another warpgroup than the one at work
};

struct Rect {
  Rows rows, cols;
  bool empty() const { return rows.empty() || cols.empty(); }
};

// One head of a tensor in HBM, to scale.
struct HbmBlock {
  Tensor tensor = Tensor::none;
  Tensor later = Tensor::none;  // what takes its place: P that of S, in our own kernel
  int rows = 0, cols = 0;
  Bytes bytes;
  bool operand = false;       // there from the beginning
  std::vector<Rect> written;  // else: what has been stored
  Rect moving;                // by the event just done

  bool holds(Tensor t) const { return t != Tensor::none && (t == tensor || t == later); }
  std::string name() const;  // "S", or "S, P"
};

// What the event just done has moved between HBM and the chip.
struct Transfer {
  Tensor tensor = Tensor::none;
  std::string name;  // "V₁"
  Rect tile;
  Bytes bytes;
  bool to_chip = false;
  Level level = Level::sram;  // the other end
  int slot = -1;              // index into TileScene::slots
};

struct TileScene {
  std::string program, title;
  int n_q = 0, n_kv = 0, d = 0, rows_q = 1, rows_kv = 1;
  Head head = 0;
  bool causal = false;
  std::vector<ScoreTile> tiles;  // row-major; tiles_across in a row
  int tiles_across = 0;
  Cells cells;
  Rect now;  // the scores that are worked on
  Strip Q, K, V, O;
  std::string lane;  // the warpgroup whose registers are shown; empty if warpgroups have no roles
  std::vector<Slot> slots;
  std::vector<HbmBlock> hbm;
  std::optional<Transfer> transfer;
  std::string caption;  // where the scores are
  Bytes read, written;  // of HBM, so far
  std::int64_t step = 0, steps = 0;
  std::string phase;
};

// `state` is replay(run, step).
TileScene tile_scene(const Run& run, const Outline& outline, const State& state);

}  // namespace fa::viz

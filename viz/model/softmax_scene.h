#pragma once
// One row of online softmax at one tile: its scores, m, the rescale factor, l and O, each as formula, numbers, result.

#include <optional>
#include <string>
#include <vector>

#include "viz/model/outline.h"

namespace fa::viz {

struct Score {
  int key = 0;
  std::string label;  // its token, or its index
  float value = 0;
  bool masked = false;
  bool largest = false;
};

struct Formula {
  std::string symbol, expression, result;  // "m_new", "max(1.07, 2.31)", "2.31"; result is "…" before its step
  bool known = false;
  bool matters = false;  // one of the two that the lesson is about
  bool fresh = false;    // the event just done brought it
};

struct Invariant {
  double left = 0, right = 0;  // l · eᵐ and Σ eˢ over the keys seen so far
  int keys = 0;
  bool holds = false;  // equal to a thousandth
};

enum class SoftmaxKind {
  waiting,  // no tile of this row has been started
  online,   // tile by tile, with rescaling
  whole,    // the row is held whole: nothing to rescale
  product,  // this launch computes no softmax
};

struct SoftmaxScene {
  SoftmaxKind kind = SoftmaxKind::waiting;
  int row = 0;
  std::string label;        // "it"
  std::string message;      // what to do, or why there is nothing to see
  std::int64_t go_to = -1;  // a step where this row has something to show
  Rows keys;
  std::vector<Score> scores;  // empty before S is computed
  std::optional<double> tile_max, m_old, m_new, rescale, tile_sum, l_old, l_new;
  std::vector<Formula> formulas;
  std::vector<float> o_before, o_after;  // before the rescaling, and after the tile is added; empty if not yet
  bool o_rescaled_only = false;          // o_after still lacks this tile
  bool o_normalised = false;             // o_after is O / l
  std::optional<Invariant> invariant;
};

SoftmaxScene softmax_scene(const Run& run, const Outline& outline, std::int64_t step, int row);

// The token of a query or a key; its index where the input has no tokens.
std::string query_label(const Run& run, int row);
std::string key_label(const Run& run, int key);

}  // namespace fa::viz

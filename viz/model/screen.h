#pragma once
// Everything on screen, as data: what draw/ paints and asks about.

#include <optional>
#include <string>

#include "viz/model/bars_scene.h"
#include "viz/model/instructive.h"
#include "viz/model/intent.h"
#include "viz/model/memory_scene.h"
#include "viz/model/playback.h"
#include "viz/model/predict.h"
#include "viz/model/softmax_scene.h"
#include "viz/model/step_text.h"
#include "viz/model/tile_scene.h"
#include "viz/model/timeline_scene.h"

namespace fa::viz {

// What the user answered, and what is true.
struct Verdict {
  double answer = 0;
  Prediction asked;
  bool right = false;
};

struct Screen {
  Specs specs;   // of what is shown
  Specs wanted;  // of the controls; differs while `trouble` stands
  Choices choices;
  std::optional<Trouble> trouble;  // why `wanted` cannot be shown
  std::string input_name, head_name, notes;

  TileScene tiles;
  std::optional<TileScene> beside;
  MemoryScene memory;
  SoftmaxScene softmax;
  std::vector<std::string> row_labels, key_labels;  // tokens; empty without them
  bool row_follows = true;
  Prediction prediction;
  std::optional<Verdict> verdict;
  TimelineScene timeline;
  StepText text;
  BarsScene bars;

  Playback playback;
  double motion = 1;  // of the last step's move: 0 begins, 1 rests
  Pairing pairing = Pairing::proportion;
  ThemeName theme = ThemeName::dark;
  bool reduce_motion = false, help = false;
  double scale = 1;
  Page page = Page::tiles;
  LeftPage left_page = LeftPage::setup;
};

// The step of the program beside at which it has come as far as the first at `step`: by share of steps, or of tiles.
std::int64_t paired_step(const Outline& first, std::int64_t step, const Outline& beside, Pairing pairing);

}  // namespace fa::viz

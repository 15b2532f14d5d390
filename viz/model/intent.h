#pragma once
// What a panel may ask for. The app applies intents after the frame.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "viz/model/outline.h"
#include "viz/model/specs.h"

namespace fa::viz {

enum class ThemeName { dark, light };
enum class Pairing { proportion, tile };  // how the program beside keeps pace
enum class Page { tiles, memory };        // of a window too narrow for both
enum class LeftPage { setup, predict };   // of one too low

struct SeekTo {
  std::int64_t step;
};
struct Move {
  Stride unit;
  int count;
};
struct Play {
  bool on;
};
struct SetSpeed {
  double speed;
};
struct SelectRow {
  int row;
};
struct FollowRow {};  // the chosen row moves with the block
struct Change {
  Specs specs;
  Control control;
};
struct SetWholeRunN {
  int n;
};
struct SetPairing {
  Pairing pairing;
};
struct SetTheme {
  ThemeName theme;
};
struct SetReduceMotion {
  bool on;
};
struct SetScale {
  double scale;
};
struct ShowHelp {
  bool on;
};
struct ShowPage {
  Page page;
};
struct ShowLeftPage {
  LeftPage page;
};
struct Answer {
  double factor;
};  // to the prediction
struct ViewRange {
  std::int64_t first, last;
};  // of the timeline

using Intent = std::variant<SeekTo, Move, Play, SetSpeed, SelectRow, FollowRow, Change, SetWholeRunN, SetPairing,
                            SetTheme, SetReduceMotion, SetScale, ShowHelp, ShowPage, ShowLeftPage, Answer, ViewRange>;
using Intents = std::vector<Intent>;

}  // namespace fa::viz

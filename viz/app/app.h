#pragma once
// The state of the visualizer, and what intents do to it. It knows no window: the headless shell uses it too.

#include <cstdint>
#include <optional>
#include <string>

#include "viz/app/session.h"
#include "viz/draw/widgets.h"
#include "viz/model/screen.h"

namespace fa::viz {

// Everything that decides the first picture.
struct Start {
  Specs specs;
  std::optional<std::int64_t> step;  // none: before the first tile
  std::optional<int> row;            // none: it follows the block
  ThemeName theme = ThemeName::dark;
  double scale = 1;
  int whole_run_n = 16384;
  std::string notes;
};

class App {
 public:
  explicit App(Start start);  // throws SpecError or InputError

  const Screen& screen();
  DrawState& draw_state() { return draw_state_; }
  void apply(const Intents& intents);
  void tick(double seconds);  // playback and motion
  void finish_counting();     // for a picture: the whole-run bars, all of them

  // The step that shows most, with its row: for a picture of which nobody has said the step.
  void go_to_instructive();

  std::int64_t step() const { return step_; }
  double scale() const { return scale_; }
  bool playing() const { return playback_.playing; }
  bool busy() const { return counted_ < programs.size(); }  // a frame is worth drawing although nothing was touched
  bool moving() const { return motion_ < 1; }
  void allow_motion() { animates_ = true; }
  Start now() const;  // as a scene that could be saved

 private:
  void seek(std::int64_t step, bool animated);
  void runs_changed();
  int row() const;
  Prediction question() const;
  void rebuild();
  void count_next();

  Session session_;
  DrawState draw_state_;
  Screen screen_;
  bool dirty_ = true;
  std::int64_t step_ = 0;
  std::int64_t first_ = 0, last_ = 0;  // of the timeline in view
  std::optional<int> pinned_row_;
  int row_in_block_ = 0;
  Playback playback_;
  double motion_ = 1;
  bool animates_ = false;  // a window moves things; a picture is an exact state
  std::optional<Verdict> verdict_;
  Pairing pairing_ = Pairing::proportion;
  ThemeName theme_;
  bool reduce_motion_ = false, help_ = false;
  double scale_;
  Page page_ = Page::tiles;
  LeftPage left_page_ = LeftPage::setup;
  std::string notes_;
  int whole_run_n_;
  Problem counted_problem_;  // what the bars are of
  std::string counted_hardware_;
  std::size_t counted_ = 0;
  std::vector<ProgramBytes> bars_;
};

}  // namespace fa::viz

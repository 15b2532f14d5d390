#include "viz/app/app.h"

#include <algorithm>

namespace fa::viz {
namespace {

constexpr int timeline_columns = 1400;
constexpr double longest_move = 0.25;  // seconds

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

}  // namespace

App::App(Start start)
    : session_(std::move(start.specs)),
      pinned_row_(start.row),
      theme_(start.theme),
      scale_(start.scale),
      notes_(std::move(start.notes)),
      whole_run_n_(start.whole_run_n) {
  if (session_.start_row()) row_in_block_ = *session_.start_row() % session_.specs().tiling.rows_q;
  runs_changed();
  step_ = std::clamp<std::int64_t>(start.step.value_or(0), 0, session_.main().outline.events());
}

// After the programs, the problem or the input have changed: the bars are counted anew, the timeline shows all.
void App::runs_changed() {
  first_ = 0;
  last_ = session_.main().outline.events();
  step_ = std::clamp<std::int64_t>(step_, 0, last_);
  const Problem problem = whole_run_problem(session_.specs().problem, whole_run_n_);
  if (!(problem == counted_problem_) || session_.specs().hardware != counted_hardware_ || bars_.empty()) {
    counted_problem_ = problem;
    counted_hardware_ = session_.specs().hardware;
    counted_ = 0;
    bars_.assign(programs.size(), {});
    for (std::size_t i = 0; i < programs.size(); ++i) {
      bars_[i].program = programs[i].name;
      bars_[i].title = programs[i].title;
      bars_[i].tiling = default_tiling(programs[i], problem, session_.main().run.hardware);
    }
  }
  dirty_ = true;
}

void App::count_next() {
  if (!busy()) return;
  bars_[counted_] = count_whole_run(programs[counted_], counted_problem_, session_.main().run.hardware);
  ++counted_;
  dirty_ = true;
}

void App::finish_counting() {
  while (busy()) count_next();
}

void App::go_to_instructive() {
  const Shown& shown = session_.main();
  const Instructive place =
      instructive_step(shown.run, shown.outline, pinned_row_ ? pinned_row_ : session_.start_row());
  step_ = place.step;
  pinned_row_ = place.row;
  dirty_ = true;
}

int App::row() const {
  if (pinned_row_) return *pinned_row_;
  const TileSpan* tile = session_.main().outline.at(step_);
  if (!tile || tile->rows.empty()) return std::min(row_in_block_, session_.main().run.problem.n_q - 1);
  return std::min(tile->rows.begin + row_in_block_, tile->rows.end - 1);
}

// About the chosen row; a row that follows the block gives way to one that has something to ask.
Prediction App::question() const {
  const Shown& shown = session_.main();
  Prediction mine = prediction(shown.run, shown.outline, step_, row());
  if (mine.asks || pinned_row_) return mine;
  Prediction any = prediction(shown.run, shown.outline, step_, std::nullopt);
  return any.asks ? any : mine;
}

void App::seek(std::int64_t step, bool animated) {
  step = std::clamp<std::int64_t>(step, 0, session_.main().outline.events());
  if (step == step_) return;
  motion_ = animated && animates_ && !reduce_motion_ && step == step_ + 1 ? 0 : 1;
  step_ = step;
  dirty_ = true;
  // Keep the playhead in view.
  const std::int64_t span = last_ - first_;
  if (step_ < first_ || step_ > last_) {
    first_ = std::clamp<std::int64_t>(step_ - span / 2, 0, session_.main().outline.events() - span);
    last_ = first_ + span;
  }
}

void App::tick(double seconds) {
  if (motion_ < 1) {
    const double move =
        playback_.playing ? std::min(longest_move, 0.6 / (playback_.speed * steps_per_second)) : longest_move;
    motion_ = std::min(1.0, motion_ + seconds / move);
    screen_.motion = motion_;
  }
  const std::int64_t next = advance(playback_, step_, session_.main().outline.events(), seconds);
  if (next != step_) {
    verdict_.reset();
    seek(next, true);
  }
  if (screen_.playback.playing != playback_.playing) dirty_ = true;
  count_next();
}

void App::apply(const Intents& intents) {
  if (intents.empty()) return;
  dirty_ = true;
  for (const Intent& intent : intents)
    std::visit(
        Overload{
            [&](const SeekTo& to) {
              playback_.playing = false;
              verdict_.reset();
              seek(to.step, false);
            },
            [&](const Move& move) {
              playback_.playing = false;
              verdict_.reset();
              seek(moved(session_.main().outline, step_, move.unit, move.count), true);
            },
            [&](const Play& play) {
              if (play.on && step_ >= session_.main().outline.events()) seek(0, false);
              playback_.playing = play.on;
              playback_.waiting = 1;  // the first step comes at once
            },
            [&](const SetSpeed& speed) { playback_.speed = speed.speed; },
            [&](const SelectRow& select) {
              pinned_row_ = select.row;
              verdict_.reset();
            },
            [&](const FollowRow&) {
              row_in_block_ = pinned_row_.value_or(0) % session_.specs().tiling.rows_q;
              pinned_row_.reset();
            },
            [&](const Change& change) {
              const Specs before = session_.specs();
              session_.want(change.specs, change.control);
              if (before == session_.specs()) return;
              verdict_.reset();
              playback_.playing = false;
              // Another program, length or tiling is another story: from its beginning. Else the place is kept.
              const bool same_story =
                  before.program == session_.specs().program && before.problem.n_q == session_.specs().problem.n_q &&
                  before.tiling == session_.specs().tiling && before.problem.causal == session_.specs().problem.causal;
              if (!same_story) step_ = 0;
              if (pinned_row_ && *pinned_row_ >= session_.specs().problem.n_q) pinned_row_.reset();
              motion_ = 1;
              runs_changed();
            },
            [&](const SetWholeRunN& n) {
              whole_run_n_ = n.n;
              runs_changed();
            },
            [&](const SetPairing& set) { pairing_ = set.pairing; }, [&](const SetTheme& set) { theme_ = set.theme; },
            [&](const SetReduceMotion& set) {
              reduce_motion_ = set.on;
              motion_ = 1;
            },
            [&](const SetScale& set) { scale_ = set.scale; }, [&](const ShowHelp& show) { help_ = show.on; },
            [&](const ShowPage& show) { page_ = show.page; }, [&](const ShowLeftPage& show) { left_page_ = show.page; },
            [&](const Answer& answer) {
              verdict_.reset();
              if (answer.factor < 0) return;  // the next question
              const Prediction asked = question();
              if (!asked.asks) return;
              playback_.playing = false;
              seek(asked.reveal, false);
              if (row() != asked.row) pinned_row_ = asked.row;
              verdict_ = Verdict{answer.factor, asked, is_right(asked, answer.factor)};
            },
            [&](const ViewRange& range) {
              first_ = std::clamp<std::int64_t>(range.first, 0, session_.main().outline.events());
              last_ = std::clamp<std::int64_t>(range.last, first_, session_.main().outline.events());
            }},
        intent);
}

const Screen& App::screen() {
  if (dirty_) rebuild();
  dirty_ = false;
  return screen_;
}

void App::rebuild() {
  const Shown& shown = session_.main();
  const Run& run = shown.run;
  Screen& s = screen_;
  s.specs = session_.specs();
  s.wanted = session_.wanted();
  s.choices = session_.choices();
  s.trouble = session_.trouble();
  s.input_name = session_.input_name();
  s.head_name = session_.head_name();
  s.notes = notes_;

  const State state = replay(run, step_);
  s.tiles = tile_scene(run, shown.outline, state);
  s.memory = memory_scene(run, state, s.tiles);
  s.memory.behind_l2 = shown.dram;
  s.beside.reset();
  if (const Shown* other = session_.beside()) {
    const State at = replay(other->run, paired_step(shown.outline, step_, other->outline, pairing_));
    s.beside = tile_scene(other->run, other->outline, at);
    s.memory.beside = s.beside->title;
    s.memory.beside_read = s.beside->read;
    s.memory.beside_written = s.beside->written;
  }
  s.softmax = softmax_scene(run, shown.outline, step_, row());
  s.row_labels.clear();
  s.key_labels = run.tokens;
  if (!run.tokens.empty())
    for (int i = 0; i < run.problem.n_q; ++i) s.row_labels.push_back(query_label(run, i));
  s.row_follows = !pinned_row_;
  s.prediction = question();
  s.verdict = verdict_;
  s.timeline = timeline_scene(run, shown.outline, first_, last_, timeline_columns);
  s.timeline.step = step_;
  s.text = step_text(run, shown.outline, step_);
  s.bars = bars_scene(counted_problem_, bars_);

  s.playback = playback_;
  s.motion = motion_;
  s.pairing = pairing_;
  s.theme = theme_;
  s.reduce_motion = reduce_motion_;
  s.help = help_;
  s.scale = scale_;
  s.page = page_;
  s.left_page = left_page_;
}

Start App::now() const {
  Start start;
  start.specs = session_.specs();
  start.step = step_;
  start.row = pinned_row_;
  start.theme = theme_;
  start.scale = scale_;
  start.whole_run_n = whole_run_n_;
  start.notes = notes_;
  return start;
}

}  // namespace fa::viz

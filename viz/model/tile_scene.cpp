#include "viz/model/tile_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "viz/model/history.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

constexpr int most_cells = 128;  // along one side of the grid

// The scores and weights of one head, as far as `step` events have brought them.
struct Scores {
  Scores(const Run& run, Head head, std::int64_t step)
      : cols(run.problem.n_kv),
        score(size(run), std::numeric_limits<float>::quiet_NaN()),
        weight(size(run), -1.0f),
        max(static_cast<std::size_t>(run.problem.n_q), std::numeric_limits<float>::quiet_NaN()) {
    for (std::int64_t k = 0; k < step; ++k) {
      const Event& event = run.events[static_cast<std::size_t>(k)];
      if (event.head != head || event.to == no_buffer || event.op == Op::load || event.values < 0) continue;
      if (event.op == Op::running_max) {
        for (int row = event.rows.begin; row < event.rows.end; ++row)
          max[static_cast<std::size_t>(row)] = run.values_of(event)[static_cast<std::size_t>(row - event.rows.begin)];
      } else if (is_scores(run, event.launch, event.to)) {
        if (event.op == Op::matmul || event.op == Op::mask || event.op == Op::scale) put(score, run, event);
        if (event.op == Op::normalise) put(weight, run, event);
      }
    }
    weigh(run.problem.n_q);
  }

  int cols;
  std::vector<float> score, weight, max;

 private:
  static std::size_t size(const Run& run) {
    return static_cast<std::size_t>(run.problem.n_q) * static_cast<std::size_t>(run.problem.n_kv);
  }
  std::size_t at(int row, int col) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(col);
  }
  void put(std::vector<float>& target, const Run& run, const Event& event) {
    const std::span<const float> values = run.values_of(event);
    for (int row = event.rows.begin; row < event.rows.end; ++row)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row - event.rows.begin) * event.cols.size(),
                  event.cols.size(), target.begin() + static_cast<std::ptrdiff_t>(at(row, event.cols.begin)));
  }
  // exp(S − m), with the m that the block has by now: a new maximum makes the whole row paler, as the rescaling does.
  void weigh(int rows) {
    for (int row = 0; row < rows; ++row) {
      float m = max[static_cast<std::size_t>(row)];
      if (std::isnan(m))
        for (int col = 0; col < cols; ++col)
          if (!std::isnan(score[at(row, col)]))
            m = std::isnan(m) ? score[at(row, col)] : std::max(m, score[at(row, col)]);
      for (int col = 0; col < cols; ++col) {
        const float s = score[at(row, col)];
        if (weight[at(row, col)] < 0 && !std::isnan(s) && !std::isinf(s))
          weight[at(row, col)] = std::isinf(m) ? 1.0f : std::min(1.0f, std::exp(s - m));
      }
    }
  }
};

Cells cells(const Run& run, Head head, std::int64_t step) {
  const Problem& p = run.problem;
  const Scores scores(run, head, step);
  Cells result;
  result.fold = static_cast<int>(ceil_div(std::max(p.n_q, p.n_kv), most_cells));
  result.rows = static_cast<int>(ceil_div(p.n_q, result.fold));
  result.cols = static_cast<int>(ceil_div(p.n_kv, result.fold));
  result.weight.assign(static_cast<std::size_t>(result.rows) * static_cast<std::size_t>(result.cols), -1.0f);
  for (int row = 0; row < p.n_q; ++row)
    for (int col = 0; col < p.n_kv; ++col) {
      float& cell = result.weight[static_cast<std::size_t>(row / result.fold) * static_cast<std::size_t>(result.cols) +
                                  static_cast<std::size_t>(col / result.fold)];
      cell = std::max(cell, scores.weight[static_cast<std::size_t>(row) * static_cast<std::size_t>(p.n_kv) +
                                          static_cast<std::size_t>(col)]);
    }
  return result;
}

void put_tiles(TileScene& scene, const Run& run, const Outline& outline, const TileSpan* current) {
  const Tiles rows = cut(run.problem.n_q, run.tiling.rows_q), cols = cut(run.problem.n_kv, run.tiling.rows_kv);
  scene.tiles_across = cols.size();
  for (Rows i : rows)
    for (Rows j : cols) scene.tiles.push_back({i, j, TileState::skipped});
  for (const TileSpan& span : outline.tiles) {
    if (span.head != scene.head || span.cols.empty()) continue;
    for (int i = span.rows.begin / run.tiling.rows_q; i < rows.size() && rows.at(i).begin < span.rows.end; ++i)
      for (int j = span.cols.begin / run.tiling.rows_kv; j < cols.size() && cols.at(j).begin < span.cols.end; ++j) {
        TileState& state = scene
                               .tiles[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols.size()) +
                                      static_cast<std::size_t>(j)]
                               .state;
        if (&span == current)
          state = TileState::now;
        else if (state != TileState::now && span.last <= scene.step)
          state = TileState::done;
        else if (state == TileState::skipped)
          state = TileState::to_come;
      }
  }
}

Slot slot_of(const Run& run, int launch, BufferId id, const BufferState* content, const Event* event) {
  const BufferInfo& info = run.launches[static_cast<std::size_t>(launch)].buffers[static_cast<std::size_t>(id)];
  Slot slot;
  slot.name = info.name;
  slot.tensor = tensor_of(run, launch, id);
  slot.level = info.level;
  slot.shape = info.shape;
  slot.bytes = info.bytes;
  slot.holds = "empty";
  if (!content) return slot;
  slot.filled = true;
  if (slot.tensor == Tensor::Q || slot.tensor == Tensor::K || slot.tensor == Tensor::V || slot.tensor == Tensor::O)
    slot.name = tile_name(slot.tensor, content->rows, content->cols, run.tiling);
  slot.holds = content->cols.size() > 1 && is_scores(run, launch, id)
                   ? fmt::format("{} × {}", content->rows.size(), content->cols.size())
                   : "rows " + rows_text(content->rows);
  if (event) {
    slot.written = event->to == id || (event->op == Op::start && info.fill.has_value());
    slot.read = std::find(event->from.begin(), event->from.end(), id) != event->from.end();
  }
  return slot;
}

// The warpgroup whose registers are shown: the one at work, or the first that has any.
int lane_shown(const Launch& launch, const Event* event) {
  const auto owns = [&](int lane) {
    return std::any_of(launch.buffers.begin(), launch.buffers.end(), [&](const BufferInfo& buffer) {
      return buffer.level == Level::registers && buffer.lane == lane;
    });
  };
  if (event && owns(event->lane)) return event->lane;
  for (int lane = 0; lane < static_cast<int>(launch.lanes.size()); ++lane)
    if (owns(lane)) return lane;
  return 0;
}

// What the block holds of a tensor.
Rows held(const Run& run, const State& state, Tensor tensor) {
  for (const BufferState& buffer : state.buffers)
    if (tensor_of(run, state.launch, buffer.id) == tensor) return buffer.rows;
  return {};
}

// Rows of O that no later event stores again.
std::vector<Rows> finished(const Run& run, Head head, std::int64_t step) {
  std::map<int, std::pair<std::int64_t, Rows>> last;
  for (std::size_t k = 0; k < run.events.size(); ++k) {
    const Event& event = run.events[k];
    if (event.op == Op::store && event.tensor == Tensor::O && event.head == head)
      last[event.rows.begin] = {static_cast<std::int64_t>(k), event.rows};
  }
  std::vector<Rows> result;
  for (const auto& entry : last)
    if (entry.second.first < step) result.push_back(entry.second.second);
  return result;
}

void put_hbm(TileScene& scene, const Run& run, std::int64_t step, const Event* event) {
  const auto at = [&](Tensor tensor) {
    return std::find_if(scene.hbm.begin(), scene.hbm.end(), [&](const HbmBlock& block) { return block.holds(tensor); });
  };
  for (const Allocation& allocation : run.allocations) {
    if (const auto taken = at(allocation.place_of); taken != scene.hbm.end()) {
      taken->later = allocation.tensor;
      continue;
    }
    HbmBlock block;
    block.tensor = allocation.tensor;
    block.rows = allocation.rows;
    block.cols = allocation.cols;
    block.bytes = Bytes(allocation.rows) * allocation.cols * allocation.bytes_each;
    block.operand = allocation.tensor == Tensor::Q || allocation.tensor == Tensor::K || allocation.tensor == Tensor::V;
    scene.hbm.push_back(std::move(block));
  }
  if (event)
    if (const auto block = at(event->tensor); block != scene.hbm.end()) block->moving = {event->rows, event->cols};
  for (std::int64_t k = 0; k < step; ++k) {
    const Event& stored = run.events[static_cast<std::size_t>(k)];
    if (stored.op != Op::store || stored.head != scene.head) continue;
    if (const auto block = at(stored.tensor); block != scene.hbm.end())
      block->written.push_back({stored.rows, stored.cols});
  }
}

std::string caption(const TileScene& scene) {
  for (const HbmBlock& block : scene.hbm)
    if (block.holds(Tensor::S)) return "S and P go to HBM and come back";
  const auto skipped = std::count_if(scene.tiles.begin(), scene.tiles.end(),
                                     [](const ScoreTile& tile) { return tile.state == TileState::skipped; });
  return fmt::format("S never exists in HBM: one tile of {} at a time",
                     thousands(static_cast<std::int64_t>(scene.tiles.size()) - skipped));
}

}  // namespace

std::string HbmBlock::name() const {
  return later == Tensor::none ? std::string(name_of(tensor)) : fmt::format("{}, {}", name_of(tensor), name_of(later));
}

TileScene tile_scene(const Run& run, const Outline& outline, const State& state) {
  TileScene scene;
  const TileSpan* current = outline.at(state.step);
  const Event* event = state.step == 0 ? nullptr : &run.events[static_cast<std::size_t>(state.step - 1)];
  scene.program = run.program;
  scene.title = program_named(run.program).title;
  scene.n_q = run.problem.n_q;
  scene.n_kv = run.problem.n_kv;
  scene.d = run.problem.d;
  scene.rows_q = run.tiling.rows_q;
  scene.rows_kv = run.tiling.rows_kv;
  scene.causal = run.problem.causal;
  scene.head = current ? current->head : 0;
  scene.step = state.step;
  scene.steps = outline.events();
  scene.read = state.counts.read();
  scene.written = state.counts.written();
  if (current) {
    scene.phase = outline.phases[static_cast<std::size_t>(current->phase)].name;
    scene.now = {current->rows, current->cols};
  } else if (!outline.phases.empty()) {
    scene.phase = outline.phases.front().name;
  }
  put_tiles(scene, run, outline, current);
  scene.cells = cells(run, scene.head, state.step);

  scene.Q = {Tensor::Q, scene.n_q, {}, held(run, state, Tensor::Q)};
  scene.K = {Tensor::K, scene.n_kv, {}, held(run, state, Tensor::K)};
  scene.V = {Tensor::V, scene.n_kv, {}, held(run, state, Tensor::V)};
  scene.O = {Tensor::O, scene.n_q, finished(run, scene.head, state.step), held(run, state, Tensor::O)};

  const int launch = std::max(0, state.launch);
  if (!run.launches.empty()) {
    const Launch& at = run.launches[static_cast<std::size_t>(launch)];
    const int lane = lane_shown(at, event);
    if (at.lanes.size() > 1) scene.lane = at.lanes[static_cast<std::size_t>(lane)];
    for (std::size_t id = 0; id < at.buffers.size(); ++id) {
      const auto buffer = static_cast<BufferId>(id);
      scene.slots.push_back(slot_of(run, launch, buffer, state.find(buffer), event));
      scene.slots.back().aside = at.buffers[id].level == Level::registers && at.buffers[id].lane != lane;
    }
  }
  put_hbm(scene, run, state.step, event);
  if (event && (event->op == Op::load || event->op == Op::store)) {
    const BufferId buffer = event->op == Op::load ? event->to : event->from[0];
    Transfer transfer;
    transfer.tensor = event->tensor;
    transfer.name = tile_name(event->tensor, event->rows, event->cols, run.tiling);
    transfer.tile = {event->rows, event->cols};
    transfer.bytes = event->hbm;
    transfer.to_chip = event->op == Op::load;
    transfer.level = scene.slots[static_cast<std::size_t>(buffer)].level;
    transfer.slot = buffer;
    scene.transfer = transfer;
  }
  scene.caption = caption(scene);
  return scene;
}

}  // namespace fa::viz

#include "sim/analysis/replay.h"

#include <algorithm>

namespace fa {
namespace {

void put(std::vector<BufferState>& buffers, BufferId id, const Event& event, Rows cols, std::vector<float> values) {
  BufferState& buffer = buffers[static_cast<std::size_t>(id)];
  buffer.filled = true;
  buffer.tensor = event.tensor;
  buffer.rows = event.rows;
  buffer.cols = cols;
  buffer.values = std::move(values);
}

}  // namespace

State replay(const Run& run, std::int64_t step) {
  State state;
  state.step = std::clamp<std::int64_t>(step, 0, static_cast<std::int64_t>(run.events.size()));
  for (std::int64_t k = 0; k < state.step; ++k) state.counts.add(run.events[static_cast<std::size_t>(k)]);
  if (state.step == 0) return state;

  // Only the current block's events can have left something in its buffers.
  const Event& last = run.events[static_cast<std::size_t>(state.step - 1)];
  state.launch = last.launch;
  state.block = last.block;
  const Launch& launch = run.launches[static_cast<std::size_t>(last.launch)];
  std::int64_t first = state.step - 1;
  while (first > 0 && run.events[static_cast<std::size_t>(first - 1)].launch == last.launch &&
         run.events[static_cast<std::size_t>(first - 1)].block == last.block)
    --first;

  std::vector<BufferState> buffers(launch.buffers.size());
  for (std::size_t id = 0; id < buffers.size(); ++id) buffers[id].id = static_cast<BufferId>(id);
  for (std::int64_t k = first; k < state.step; ++k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    if (event.op == Op::start && event.to == no_buffer) {
      for (std::size_t id = 0; id < buffers.size(); ++id) {
        const BufferInfo& info = launch.buffers[id];
        if (!info.fill) continue;
        const auto count = static_cast<std::size_t>(event.rows.size()) * static_cast<std::size_t>(info.shape.cols);
        put(buffers, static_cast<BufferId>(id), event, {0, info.shape.cols},
            std::vector<float>(run.values.empty() ? 0 : count, *info.fill));
      }
    } else if (event.to != no_buffer) {
      const std::span<const float> values = run.values_of(event);
      put(buffers, event.to, event, event.cols, {values.begin(), values.end()});
    }
  }
  for (BufferState& buffer : buffers)
    if (buffer.filled) state.buffers.push_back(std::move(buffer));
  return state;
}

}  // namespace fa

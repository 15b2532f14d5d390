#include "viz/model/history.h"

namespace fa::viz {

std::string_view buffer_name(const Run& run, int launch, BufferId id) {
  if (id == no_buffer) return {};
  return run.launches[static_cast<std::size_t>(launch)].buffers[static_cast<std::size_t>(id)].name;
}

bool is_scores(const Run& run, int launch, BufferId id) {
  const std::string_view name = buffer_name(run, launch, id);
  return name == "S" || name == "P";
}

Tensor tensor_of(const Run& run, int launch, BufferId id) {
  const std::string_view name = buffer_name(run, launch, id);
  if (name == "r") return Tensor::m;  // the rescale factor is made of m and wears its colour
  return tensor_named(name).value_or(Tensor::none);
}

std::int64_t last_set(const Run& run, std::int64_t before, BufferId id) {
  const Event& now = run.events[static_cast<std::size_t>(before)];
  const bool accumulates =
      run.launches[static_cast<std::size_t>(now.launch)].buffers[static_cast<std::size_t>(id)].fill.has_value();
  for (std::int64_t k = before - 1; k >= 0; --k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    if (event.launch != now.launch || event.block != now.block) break;
    if (event.to == id || (event.op == Op::start && event.to == no_buffer && accumulates)) return k;
  }
  return -1;
}

std::vector<float> row_after(const Run& run, std::int64_t k, BufferId id, int row) {
  if (k < 0 || run.values.empty()) return {};
  const Event& event = run.events[static_cast<std::size_t>(k)];
  if (row < event.rows.begin || row >= event.rows.end) return {};
  if (event.op == Op::start) {
    const BufferInfo& info = run.launches[static_cast<std::size_t>(event.launch)].buffers[static_cast<std::size_t>(id)];
    return std::vector<float>(static_cast<std::size_t>(info.shape.cols), info.fill.value_or(0.0f));
  }
  const std::span<const float> values = run.values_of(event);
  const auto cols = static_cast<std::size_t>(event.cols.size());
  if (values.empty()) return {};
  const std::span<const float> found = values.subspan(static_cast<std::size_t>(row - event.rows.begin) * cols, cols);
  return {found.begin(), found.end()};
}

}  // namespace fa::viz

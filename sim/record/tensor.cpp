#include "sim/record/tensor.h"

namespace fa {

std::optional<Tensor> tensor_named(std::string_view name) {
  for (int i = 0; i < tensor_count; ++i)
    if (tensor_names[static_cast<std::size_t>(i)] == name) return tensor_at(i);
  return std::nullopt;
}

}  // namespace fa

#pragma once
// Number formats that a tensor file may hold, and their way to float.

#include <cstddef>
#include <string_view>

namespace fa {

struct Dtype {
  std::string_view name;  // as safetensors spells it: "BF16"
  int bytes;
  float (*to_float)(const std::byte*);  // little-endian; null for integers and BOOL, whose values we do not read
};

const Dtype* dtype_named(std::string_view name);  // null if unknown

}  // namespace fa

#pragma once
// The JSON header of a safetensors file, checked for form; its sizes are checked against the data in safetensors.cpp.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/safetensors.h"

namespace fa {

struct SafetensorsHeader {
  struct Tensor {
    TensorFile::Entry entry;            // its values not read yet
    std::vector<std::int64_t> offsets;  // [begin, end) of its bytes in the data; always two
  };
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Throws InputError, which calls the file `source`.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::string_view source);

}  // namespace fa

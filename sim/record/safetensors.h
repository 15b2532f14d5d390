#pragma once
// Tensors in a safetensors file: an 8-byte little-endian header length, a JSON header, then the data.
//
// A file is somebody else's word, so every length and offset is checked before it is used, and what is read takes memory
// in proportion to the file's size, whatever its header claims. Failures are InputError: one line that names the
// file, the tensor and what is wrong.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.h"

namespace fa {

struct TensorFile {
  struct Entry {
    std::string name;
    std::string dtype;  // as in the file: "F32"
    std::vector<std::int64_t> shape;
    // Row-major. Filled for F64, F32, F16, BF16, F8_E4M3 and F8_E5M2; empty for integers and BOOL, which are checked
    // like the others but not converted.
    std::vector<float> values;
  };

  std::string source;          // the file's name, for messages
  std::vector<Entry> tensors;  // in the order of the header
  std::map<std::string, std::string> metadata;

  const Entry* find(std::string_view name) const;  // null if there is none
};

TensorFile read_safetensors(const std::filesystem::path& path);

// The same on bytes in memory, which messages call `source`.
TensorFile parse_safetensors(std::span<const std::byte> bytes, std::string_view source);

// Writes every tensor as F32. The file appears whole or not at all.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file);

// A name out of a file as a message may show it: in quotes, on one line, and not endless.
std::string in_quotes(std::string_view name);

}  // namespace fa

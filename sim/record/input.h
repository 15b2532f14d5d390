#pragma once
// A user's attention inputs: Q, K and V out of a safetensors file, as a problem and its operands.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/problem.h"
#include "sim/record/operands.h"

namespace fa {

struct Input {
  Problem problem;  // shape of the tensors; `causal` as the file says, `element` the default
  Operands operands;
  std::vector<std::string> tokens;  // one per key, if the file has them
  std::vector<std::string> heads;   // one per query head, if the file has them
  std::optional<int> start_row;     // the query row that is worth a first look
};

// Throws InputError with one line that names the file and what is wrong with it.
Input read_input(const std::filesystem::path& path);

// The file that is shown when the user names none.
std::filesystem::path bundled_input();

// One query head of an input, with the KV head that it reads. Throws InputError if there is no such head.
Input head_of(const Input& input, Head head);

}  // namespace fa

#pragma once
// The attention inputs in a tensor file: `q`, `k`, `v` of shape [n, d], [heads, n, d] or [batch, heads, n, d].

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/record/safetensors.h"

namespace fa {

struct NamedQkv {
  // Into the file, which must live as long. `o` is the output of the model's own attention, to check against: null unless
  // the file has a tensor of that name in the shape of q.
  const TensorFile::Entry* q = nullptr;
  const TensorFile::Entry* k = nullptr;
  const TensorFile::Entry* v = nullptr;
  const TensorFile::Entry* o = nullptr;

  std::int64_t batch = 1, q_heads = 1, kv_heads = 1, n_q = 0, n_kv = 0, d = 0;

  // From the metadata; empty if the file does not say.
  std::vector<std::string> tokens;        // one per key; with n_q < n_kv the queries are the last n_q of them
  std::vector<std::string> heads;         // one per query head and batch: what each of them is
  std::optional<bool> causal;             // whether these heads use a causal mask
  std::optional<std::int64_t> start_row;  // the query row that is worth a first look
};

// Throws InputError, naming the file and what attention needs, unless the three fit together.
NamedQkv qkv_of(const TensorFile& file);
NamedQkv qkv_of(TensorFile&&) = delete;  // the result points into the file

}  // namespace fa

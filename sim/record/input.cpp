#include "sim/record/input.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/check.h"
#include "sim/core/error.h"
#include "sim/core/files.h"
#include "sim/record/qkv.h"

namespace fa {
namespace {

std::vector<Matrix> heads_of(const TensorFile::Entry& entry, std::int64_t heads, int rows, int d) {
  std::vector<Matrix> matrices;
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(d);
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    matrices.emplace_back(rows, d);
    std::copy_n(entry.values.data() + head * count, count, matrices.back().values().data());
  }
  return matrices;
}

int checked_size(std::int64_t value, const TensorFile& file, std::string_view name) {
  if (value > (1 << 30)) throw InputError(fmt::format("{}: {} = {} is too large.", file.source, name, value));
  return static_cast<int>(value);
}

}  // namespace

Input read_input(const std::filesystem::path& path) {
  const TensorFile file = read_safetensors(path);
  const NamedQkv qkv = qkv_of(file);
  Input input;
  Problem& p = input.problem;
  p.batch = checked_size(qkv.batch, file, "batch");
  p.heads = checked_size(qkv.q_heads, file, "heads");
  p.kv_heads = checked_size(qkv.kv_heads, file, "kv_heads");
  p.n_q = checked_size(qkv.n_q, file, "n_q");
  p.n_kv = checked_size(qkv.n_kv, file, "n_kv");
  p.d = checked_size(qkv.d, file, "d");
  p.causal = qkv.causal.value_or(false);
  if (auto why = why_invalid(p)) throw InputError(fmt::format("{}: {}", file.source, *why));
  input.operands.q = heads_of(*qkv.q, p.heads_total(), p.n_q, p.d);
  input.operands.k = heads_of(*qkv.k, p.kv_heads_total(), p.n_kv, p.d);
  input.operands.v = heads_of(*qkv.v, p.kv_heads_total(), p.n_kv, p.d);
  input.tokens = qkv.tokens;
  input.heads = qkv.heads;
  if (qkv.start_row) input.start_row = static_cast<int>(*qkv.start_row);
  return input;
}

std::filesystem::path bundled_input() { return assets_folder() / "inputs" / "smollm2.safetensors"; }

Input head_of(const Input& input, Head head) {
  const Problem& p = input.problem;
  if (head < 0 || head >= p.heads_total())
    throw InputError(fmt::format("--head must be between 0 and {}, not {}.", p.heads_total() - 1, head));
  Input one = input;
  one.problem.batch = one.problem.heads = one.problem.kv_heads = 1;
  const auto kv = static_cast<std::size_t>(p.kv_head_of(head));
  one.operands.q = {input.operands.q[static_cast<std::size_t>(head)]};
  one.operands.k = {input.operands.k[kv]};
  one.operands.v = {input.operands.v[kv]};
  one.heads.clear();
  if (!input.heads.empty()) one.heads.push_back(input.heads[static_cast<std::size_t>(head)]);
  return one;
}

}  // namespace fa

#include "sim/record/qkv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace fa {
namespace {

using Entry = TensorFile::Entry;

template <class... Args>
[[noreturn]] void fail(const TensorFile& file, fmt::format_string<Args...> text, Args&&... args) {
  throw InputError(fmt::format("{}: {}.", file.source, fmt::format(text, std::forward<Args>(args)...)));
}

const Entry& required(const TensorFile& file, const char* name) {
  const Entry* entry = file.find(name);
  if (!entry) fail(file, "it has no tensor \"{}\"; attention needs q, k and v", name);
  if (entry->shape.size() < 2 || entry->shape.size() > 4)
    fail(file, "tensor \"{}\" has the shape [{}]; [n, d], [heads, n, d] and [batch, heads, n, d] are taken", name,
         fmt::join(entry->shape, ", "));
  for (std::int64_t size : entry->shape)
    if (size < 1 || size > std::numeric_limits<int>::max())
      fail(file, "tensor \"{}\" has the shape [{}]; each size must be between 1 and 2^31 - 1", name,
           fmt::join(entry->shape, ", "));
  if (entry->values.empty())
    fail(file, "tensor \"{}\" is {}; F64, F32, F16, BF16, F8_E4M3 and F8_E5M2 are taken", name, entry->dtype);
  return *entry;
}

// The size of an axis counted from the last one, which is 0; 1 if the tensor has fewer axes.
std::int64_t size_from_end(const Entry& entry, std::size_t axis) {
  return axis < entry.shape.size() ? entry.shape[entry.shape.size() - 1 - axis] : 1;
}

void must_equal(const TensorFile& file, const Entry& a, const Entry& b, std::size_t axis, const char* what) {
  const std::int64_t of_a = size_from_end(a, axis), of_b = size_from_end(b, axis);
  if (of_a != of_b)
    fail(file, "tensors \"{}\" and \"{}\" must have the same {}, not {} and {}", a.name, b.name, what, of_a, of_b);
}

nlohmann::json metadata_json(const std::string& text) { return nlohmann::json::parse(text, nullptr, false); }

std::vector<std::string> names(const TensorFile& file, const char* key, std::int64_t count, const char* each) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return {};
  const nlohmann::json list = metadata_json(found->second);
  std::vector<std::string> strings;
  if (list.is_array())
    for (const auto& item : list)
      if (item.is_string()) strings.push_back(item.get<std::string>());
  if (!list.is_array() || strings.size() != list.size())
    fail(file, "metadata \"{}\" must be a JSON list of strings, one for each {}", key, each);
  if (static_cast<std::int64_t>(strings.size()) != count)
    fail(file, "metadata \"{}\" has {} strings; it must have one for each {}: {}", key, strings.size(), each, count);
  return strings;
}

}  // namespace

NamedQkv qkv_of(const TensorFile& file) {
  const Entry &q = required(file, "q"), &k = required(file, "k"), &v = required(file, "v");
  for (const Entry* other : {&k, &v}) {
    must_equal(file, q, *other, 0, "d");
    must_equal(file, q, *other, 3, "batch");
  }
  must_equal(file, k, v, 1, "n");
  must_equal(file, k, v, 2, "number of heads");

  NamedQkv out;
  out.q = &q, out.k = &k, out.v = &v;
  out.batch = size_from_end(q, 3);
  out.q_heads = size_from_end(q, 2);
  out.kv_heads = size_from_end(k, 2);
  out.n_q = size_from_end(q, 1);
  out.n_kv = size_from_end(k, 1);
  out.d = size_from_end(q, 0);
  if (out.q_heads % out.kv_heads != 0)
    fail(file, "the heads of \"q\" must be a multiple of those of \"k\" and \"v\", not {} and {}", out.q_heads,
         out.kv_heads);
  const Entry* o = file.find("o");
  if (o && o->shape == q.shape && !o->values.empty()) out.o = o;

  out.tokens = names(file, "tokens", out.n_kv, "key");
  out.heads = names(file, "heads", out.batch * out.q_heads, "query head");
  if (const auto found = file.metadata.find("causal"); found != file.metadata.end()) {
    if (found->second != "true" && found->second != "false")
      fail(file, "metadata \"causal\" must be true or false, not {}", in_quotes(found->second));
    out.causal = found->second == "true";
  }
  if (const auto found = file.metadata.find("start_row"); found != file.metadata.end()) {
    const nlohmann::json row = metadata_json(found->second);
    if (!row.is_number_unsigned() || row.get<std::uint64_t>() >= static_cast<std::uint64_t>(out.n_q))
      fail(file, "metadata \"start_row\" must be a row of \"q\", 0 to {}, not {}", out.n_q - 1,
           in_quotes(found->second));
    out.start_row = row.get<std::int64_t>();
  }
  return out;
}

}  // namespace fa

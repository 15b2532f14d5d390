#include "sim/record/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "sim/core/files.h"
#include "sim/record/dtype.h"
#include "sim/record/safetensors_header.h"

namespace fa {
namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the format's own limit

template <class... Args>
[[noreturn]] void fail(std::string_view source, fmt::format_string<Args...> text, Args&&... args) {
  throw InputError(fmt::format("{}: {}.", source, fmt::format(text, std::forward<Args>(args)...)));
}

std::string_view header_of(std::span<const std::byte> bytes, std::string_view source) {
  if (bytes.empty()) fail(source, "the file is empty");
  if (bytes.size() < length_bytes)
    fail(source, "it has {} bytes, but a safetensors file begins with 8 that give its header's length", bytes.size());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);  // little-endian, like this machine
  if (length > max_header_bytes)
    fail(source, "it claims a header of {} bytes; at most 100 MB are allowed, so it is no safetensors file", length);
  if (length > bytes.size() - length_bytes)
    fail(source, "it claims a header of {} bytes, but only {} follow: it is truncated or no safetensors file", length,
         bytes.size() - length_bytes);
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + length_bytes,
                                static_cast<std::size_t>(length));
  if (header.substr(0, 1) != "{") fail(source, "its header does not begin with '{{': it is no safetensors file");
  return header;
}

// Throws unless dtype, shape and offsets agree with each other and lie within the data.
void check_sizes(const SafetensorsHeader::Tensor& tensor, std::size_t data_bytes, std::string_view source) {
  const TensorFile::Entry& entry = tensor.entry;
  const auto refuse = [&](const std::string& what) { fail(source, "tensor {} {}", in_quotes(entry.name), what); };

  const Dtype* dtype = dtype_named(entry.dtype);
  if (!dtype) refuse(fmt::format("has the unknown dtype {}", in_quotes(entry.dtype)));
  std::int64_t bytes = dtype->bytes;
  for (std::int64_t size : entry.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes)) refuse("has a shape too large for any memory");

  const std::int64_t begin = tensor.offsets[0], end = tensor.offsets[1];
  if (begin > end) refuse(fmt::format("begins at byte {} of the data, after its end at {}", begin, end));
  if (static_cast<std::uint64_t>(end) > data_bytes)
    refuse(fmt::format("ends at byte {} of the data, but the file holds {}: it is truncated or its header lies", end,
                       data_bytes));
  if (end - begin != bytes)
    refuse(fmt::format("has {} bytes of data, but its dtype and shape make {}", end - begin, bytes));
}

// The format wants every byte of the data to belong to exactly one tensor.
void check_layout(const std::vector<SafetensorsHeader::Tensor>& tensors, std::size_t data_bytes,
                  std::string_view source) {
  std::vector<const SafetensorsHeader::Tensor*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->offsets < b->offsets; });
  std::int64_t covered = 0;
  for (const auto* tensor : order) {
    const std::int64_t begin = tensor->offsets[0];
    if (begin < covered)
      fail(source, "tensor {} overlaps the tensor before it in the data", in_quotes(tensor->entry.name));
    if (begin > covered)
      fail(source, "tensor {} leaves a gap before it: bytes {} to {} of the data belong to no tensor",
           in_quotes(tensor->entry.name), covered, begin);
    covered = tensor->offsets[1];
  }
  if (static_cast<std::uint64_t>(covered) < data_bytes)
    fail(source, "its last {} bytes belong to no tensor", data_bytes - static_cast<std::uint64_t>(covered));
}

std::vector<float> values_of(std::span<const std::byte> bytes, const Dtype& dtype) {
  std::vector<float> values;
  if (!dtype.to_float) return values;
  const auto step = static_cast<std::size_t>(dtype.bytes);
  values.reserve(bytes.size() / step);
  for (std::size_t at = 0; at < bytes.size(); at += step) values.push_back(dtype.to_float(bytes.data() + at));
  return values;
}

}  // namespace

const TensorFile::Entry* TensorFile::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

TensorFile parse_safetensors(std::span<const std::byte> bytes, std::string_view source) {
  const std::string_view json = header_of(bytes, source);
  const std::span<const std::byte> data = bytes.subspan(length_bytes + json.size());
  SafetensorsHeader header = parse_safetensors_header(json, source);
  for (const auto& tensor : header.tensors) check_sizes(tensor, data.size(), source);
  check_layout(header.tensors, data.size(), source);

  TensorFile file{std::string(source), {}, std::move(header.metadata)};
  for (auto& tensor : header.tensors) {
    const auto begin = static_cast<std::size_t>(tensor.offsets[0]), end = static_cast<std::size_t>(tensor.offsets[1]);
    tensor.entry.values = values_of(data.subspan(begin, end - begin), *dtype_named(tensor.entry.dtype));
    file.tensors.push_back(std::move(tensor.entry));
  }
  return file;
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  try {
    const std::string bytes = read_text(path);
    return parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), path.string());
  } catch (const std::bad_alloc&) {
    fail(path.string(), "it does not fit into this machine's memory");
  }
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  std::size_t bytes = 0;
  for (const TensorFile::Entry& entry : file.tensors) {
    assert(std::accumulate(entry.shape.begin(), entry.shape.end(), std::int64_t{1}, std::multiplies<>()) ==
           static_cast<std::int64_t>(entry.values.size()));
    const std::size_t end = bytes + entry.values.size() * sizeof(float);
    header[entry.name] = {{"dtype", "F32"}, {"shape", entry.shape}, {"data_offsets", {bytes, end}}};
    bytes = end;
  }
  // A name in bad UTF-8 is written with its bad bytes replaced, rather than refused.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begin at a multiple of 8

  const std::uint64_t length = text.size();
  std::string whole(length_bytes, '\0');
  std::memcpy(whole.data(), &length, length_bytes);
  whole += text;
  for (const TensorFile::Entry& entry : file.tensors)
    whole.append(reinterpret_cast<const char*>(entry.values.data()), entry.values.size() * sizeof(float));
  write_text(path, whole);
}

std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 60;
  std::size_t length = std::min(name.size(), longest);
  // Cut between characters: bytes 10xxxxxx continue one in UTF-8.
  while (length < name.size() && length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;
  std::string text = "\"";
  for (char c : name.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (length < name.size() ? "…\"" : "\"");
}

}  // namespace fa

#include "sim/record/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace fa {
namespace {

// Takes the header piece by piece while it is parsed (nlohmann's SAX interface): a header of a million brackets is
// refused at the first wrong one and never built in memory, and a key that is said twice is seen.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view source) : source_(source) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) {
    switch (place_) {
      case Place::outside: return go(Place::names);
      case Place::before_metadata: return go(Place::metadata);
      case Place::before_tensor: return go(Place::tensor);
      default: refuse_value();
    }
  }

  bool end_object() {
    if (place_ == Place::tensor) {
      if (fields_.size() < 3) refuse("lacks one of dtype, shape and data_offsets");
      if (tensor().offsets.size() != 2) refuse("has {} data_offsets, not two: begin and end", tensor().offsets.size());
    }
    return go(place_ == Place::names ? Place::outside : Place::names);
  }

  bool key(std::string& name) {
    key_ = name;
    if (place_ == Place::metadata) {
      if (!header_.metadata.emplace(name, "").second) fail(fmt::format("metadata {} is there twice", in_quotes(name)));
      return true;
    }
    if (place_ == Place::tensor) {
      if (name != "dtype" && name != "shape" && name != "data_offsets")
        refuse("has an unknown field {}; a tensor has dtype, shape and data_offsets", in_quotes(name));
      if (!fields_.insert(name).second) refuse("says its {} twice", name);
      return true;
    }
    if (!names_.insert(name).second) fail(fmt::format("{} is there twice", in_quotes(name)));
    if (name == "__metadata__") return go(Place::before_metadata);
    header_.tensors.emplace_back();
    tensor().entry.name = name;
    fields_.clear();
    return go(Place::before_tensor);
  }

  bool start_array(std::size_t) {
    if (place_ != Place::tensor || key_ == "dtype") refuse_value();
    return go(Place::list);
  }
  bool end_array() { return go(Place::tensor); }

  bool number_unsigned(std::uint64_t value) {
    if (place_ != Place::list || value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) refuse_value();
    (key_ == "shape" ? tensor().entry.shape : tensor().offsets).push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool string(std::string& value) {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = std::move(value);
    } else if (place_ == Place::tensor && key_ == "dtype") {
      tensor().entry.dtype = std::move(value);
    } else {
      refuse_value();
    }
    return true;
  }

  bool number_integer(std::int64_t) { refuse_value(); }  // only negative numbers come here
  bool number_float(double, const std::string&) { refuse_value(); }
  bool null() { refuse_value(); }
  bool boolean(bool) { refuse_value(); }
  bool binary(nlohmann::json::binary_t&) { refuse_value(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    fail(fmt::format("its header is not JSON in UTF-8: it goes wrong at byte {}", position));
  }

 private:
  enum class Place { outside, names, before_metadata, metadata, before_tensor, tensor, list };

  bool go(Place place) {
    place_ = place;
    return true;
  }
  SafetensorsHeader::Tensor& tensor() { return header_.tensors.back(); }

  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}: {}.", source_, what)); }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
    fail(fmt::format("tensor {} {}", in_quotes(tensor().entry.name), fmt::format(text, std::forward<Args>(args)...)));
  }

  [[noreturn]] void refuse_value() {
    switch (place_) {
      case Place::before_metadata: fail("its __metadata__ is not an object of strings");
      case Place::metadata: fail(fmt::format("metadata {} is not a string", in_quotes(key_)));
      case Place::before_tensor: refuse("is not described by an object");
      case Place::tensor: refuse("has a {} that is not a {}", key_, key_ == "dtype" ? "string" : "list of numbers");
      case Place::list: refuse("has a {} with an entry that is not a whole number from 0 to 2^63 - 1", key_);
      default: fail("its header is not a JSON object");
    }
  }

  std::string_view source_;
  SafetensorsHeader header_;
  std::set<std::string> names_;   // at the top level, those said so far
  std::set<std::string> fields_;  // of the tensor being read, likewise
  std::string key_;               // the last one read
  Place place_ = Place::outside;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, std::string_view source) {
  HeaderReader reader(source);
  // nlohmann takes a zero byte for the end of its input; what hides behind it would go unseen.
  if (const auto zero = json.find('\0'); zero != std::string_view::npos)
    throw InputError(fmt::format("{}: its header is not JSON: byte {} is zero.", source, zero + 1));
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return reader.take();
}

}  // namespace fa

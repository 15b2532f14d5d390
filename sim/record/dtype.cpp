#include "sim/record/dtype.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

namespace fa {
namespace {

template <class T>
T load(const std::byte* from) {  // every machine that this runs on is little-endian, as the files are
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A shorter IEEE float laid into an fp32: the exponent is then off by the difference of the biases, which one exact
// multiplication mends, subnormal numbers included.
template <class Bits, int mantissa_bits, int bias>
float widened(const std::byte* from) {
  constexpr int sign_bit = 8 * static_cast<int>(sizeof(Bits)) - 1;
  constexpr std::uint32_t magnitude_mask = (1u << sign_bit) - 1;
  constexpr std::uint32_t infinity = magnitude_mask >> mantissa_bits << mantissa_bits;
  const std::uint32_t bits = load<Bits>(from), magnitude = bits & magnitude_mask, sign = bits >> sign_bit << 31;
  if (magnitude >= infinity) return float_of(sign | 0x7f800000u | (magnitude - infinity) << (23 - mantissa_bits));
  return float_of(sign | magnitude << (23 - mantissa_bits)) * float_of((254u - bias) << 23);
}

// OCP FP8 e4m3 (bias 7) has no infinity: numbers go on to 448, and only all ones are NaN.
float widened_e4m3(const std::byte* from) {
  const std::uint32_t bits = load<std::uint8_t>(from), magnitude = bits & 0x7fu;
  if (magnitude == 0x7fu) return std::numeric_limits<float>::quiet_NaN();
  return float_of((bits & 0x80u) << 24 | magnitude << 20) * 0x1p120f;
}

float narrowed(const std::byte* from) { return static_cast<float>(load<double>(from)); }

constexpr std::array<Dtype, 16> dtypes{{
    {"F64", 8, narrowed},
    {"F32", 4, load<float>},
    {"F16", 2, widened<std::uint16_t, 10, 15>},
    {"BF16", 2, widened<std::uint16_t, 7, 127>},
    {"F8_E4M3", 1, widened_e4m3},
    {"F8_E5M2", 1, widened<std::uint8_t, 2, 15>},
    {"F8_E8M0", 1, nullptr},
    {"BOOL", 1, nullptr},
    {"U8", 1, nullptr},
    {"I8", 1, nullptr},
    {"U16", 2, nullptr},
    {"I16", 2, nullptr},
    {"U32", 4, nullptr},
    {"I32", 4, nullptr},
    {"U64", 8, nullptr},
    {"I64", 8, nullptr},
}};

}  // namespace

const Dtype* dtype_named(std::string_view name) {
  const auto found = std::find_if(dtypes.begin(), dtypes.end(), [&](const Dtype& dtype) { return dtype.name == name; });
  return found == dtypes.end() ? nullptr : &*found;
}

}  // namespace fa

#include "sim/core/element.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace fa {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// bf16 is the upper half of a float: add half of the last kept bit (ties to even), then cut.
inline float to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  return value != value ? value : float_of(rounded);
}

// A format with `mantissa` stored bits and smallest normal exponent `min_exponent` (unbiased). Adding and subtracting
// 1.5 · 2^(e + 23 − mantissa) makes the FPU itself round at the right bit, subnormals included. Magnitudes are first
// held to twice the largest number, where every one overflows anyway, so that the ruler stays finite.
template <int mantissa, int min_exponent>
inline float to_small(float value, float largest, float beyond) {
  const float magnitude = std::fabs(value) < 2 * largest ? std::fabs(value) : 2 * largest;
  const std::uint32_t smallest = static_cast<std::uint32_t>(min_exponent + 127) << 23;
  const std::uint32_t bits = bits_of(magnitude);
  const std::uint32_t exponent = (bits > smallest ? bits : smallest) & 0x7f800000u;
  const float ruler = float_of(exponent + (static_cast<std::uint32_t>(23 - mantissa) << 23)) * 1.5f;
  const float rounded = (magnitude + ruler) - ruler;
  const float limited = rounded > largest ? beyond : rounded;
  return value != value ? value : std::copysign(limited, value);
}

inline float to_fp16(float value) { return to_small<10, -14>(value, 65504.0f, INFINITY); }

inline float to_e4m3(float value) { return to_small<3, -6>(value, 448.0f, 448.0f); }

}  // namespace

std::optional<Element> element_named(std::string_view name) {
  for (Element element : std::array{Element::fp32, Element::fp16, Element::bf16, Element::e4m3})
    if (name == name_of(element)) return element;
  return std::nullopt;
}

float round_to(Element element, float value) {
  switch (element) {
    case Element::fp32:
    case Element::byte: return value;
    case Element::fp16: return to_fp16(value);
    case Element::bf16: return to_bf16(value);
    case Element::e4m3: return to_e4m3(value);
  }
  return value;
}

void round_all(Element element, std::span<float> values) {
  switch (element) {
    case Element::fp32:
    case Element::byte: return;
    case Element::fp16:
      for (float& value : values) value = to_fp16(value);
      return;
    case Element::bf16:
      for (float& value : values) value = to_bf16(value);
      return;
    case Element::e4m3:
      for (float& value : values) value = to_e4m3(value);
      return;
  }
}

}  // namespace fa

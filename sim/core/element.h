#pragma once
// Element types of tensors in HBM, and the rounding that storing a value in one does.

#include <optional>
#include <span>
#include <string_view>

namespace fa {

enum class Element { fp32, fp16, bf16, e4m3, byte };  // byte: a mask, never a problem's element

constexpr int size_of(Element element) {
  switch (element) {
    case Element::fp32: return 4;
    case Element::fp16:
    case Element::bf16: return 2;
    case Element::e4m3:
    case Element::byte: return 1;
  }
  return 0;
}

constexpr std::string_view name_of(Element element) {
  switch (element) {
    case Element::fp32: return "fp32";
    case Element::fp16: return "fp16";
    case Element::bf16: return "bf16";
    case Element::e4m3: return "e4m3";
    case Element::byte: return "byte";
  }
  return "?";
}

// One of the four that a problem may have.
std::optional<Element> element_named(std::string_view name);

// `value` rounded to the nearest number of the element type, ties to even, NaN kept.
// fp16 and bf16 overflow to infinity (IEEE 754); e4m3 has no infinity and saturates at ±448 (OCP FP8, "satfinite").
float round_to(Element element, float value);

// The same for a whole tile, in place; vectorises.
void round_all(Element element, std::span<float> values);

}  // namespace fa

#include "sim/core/element.h"

#include <cmath>
#include <limits>
#include <vector>

#include "sim/core/random.h"
#include "tests/catch.h"

using namespace fa;

namespace {

// Every finite magnitude of a format with the given bits, from its definition: m · 2^e.
std::vector<double> magnitudes(int exponent_bits, int mantissa_bits, int bias, bool top_is_special) {
  std::vector<double> values;
  for (int e = 0; e < (1 << exponent_bits) - (top_is_special ? 1 : 0); ++e)
    for (int m = 0; m < (1 << mantissa_bits); ++m) {
      const double fraction = m / std::exp2(mantissa_bits);
      values.push_back(e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, e - bias));
    }
  return values;
}

void rounds_to_nearest(Element element, const std::vector<double>& values) {
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double step = values[i + 1] - values[i];
    for (double part : {0.0, 0.25, 0.5, 0.75}) {
      const double x = values[i] + part * step;
      const double wanted = part == 0.5 ? values[i + i % 2] : values[part > 0.5 ? i + 1 : i];  // even mantissa on ties
      if (static_cast<double>(round_to(element, static_cast<float>(x))) != wanted ||
          static_cast<double>(round_to(element, static_cast<float>(-x))) != -wanted)
        FAIL(name_of(element) << " of " << x << " is " << round_to(element, static_cast<float>(x)) << ", not "
                              << wanted);
    }
  }
  SUCCEED();
}

}  // namespace

TEST_CASE("fp16 rounds to the nearest of all its numbers, ties to even, subnormals included") {
  rounds_to_nearest(Element::fp16, magnitudes(5, 10, 15, true));
}

TEST_CASE("e4m3 rounds to the nearest of all its numbers, and saturates at 448") {
  std::vector<double> values = magnitudes(4, 3, 7, false);
  values.pop_back();  // S.1111.111 is NaN
  CHECK(values.back() == 448);
  rounds_to_nearest(Element::e4m3, values);
  CHECK(round_to(Element::e4m3, 1e9f) == 448);
  CHECK(round_to(Element::e4m3, -std::numeric_limits<float>::infinity()) == -448);
}

TEST_CASE("bf16 keeps the upper half of a float, rounded to nearest even") {
  const std::vector<double> values = magnitudes(3, 7, 3, false);
  // bf16 has more exponents: without these subnormals.
  rounds_to_nearest(Element::bf16, {values.begin() + 128, values.end()});
}

TEST_CASE("fp16 overflows to infinity at 65520 and not before") {
  CHECK(round_to(Element::fp16, 65519.99f) == 65504.0f);
  CHECK(std::isinf(round_to(Element::fp16, 65520.0f)));
  for (int e = 17; e < 128; ++e) CHECK(std::isinf(round_to(Element::fp16, std::ldexp(1.5f, e))));
}

TEST_CASE("every element type keeps NaN, and all but e4m3 keep infinity") {
  for (Element element : {Element::fp32, Element::fp16, Element::bf16, Element::e4m3})
    CHECK(std::isnan(round_to(element, std::numeric_limits<float>::quiet_NaN())));
  for (Element element : {Element::fp32, Element::fp16, Element::bf16})
    CHECK(round_to(element, -std::numeric_limits<float>::infinity()) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("rounding a tile is rounding each of its numbers") {
  Random random(7);
  for (Element element : {Element::fp32, Element::fp16, Element::bf16, Element::e4m3}) {
    std::vector<float> values, one_by_one;
    for (int i = 0; i < 1000; ++i) values.push_back(random.operand() * std::ldexp(1.0f, random.between(-20, 20)));
    for (float value : values) one_by_one.push_back(round_to(element, value));
    round_all(element, values);
    CHECK(values == one_by_one);
  }
}

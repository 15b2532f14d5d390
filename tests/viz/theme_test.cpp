#include <array>
#include <cmath>

#include "tests/catch.h"
#include "viz/draw/theme.h"

using namespace fa;
using namespace fa::viz;

namespace {

using Linear = std::array<double, 3>;

Linear linear(Color color) {
  Linear result{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = static_cast<double>(color >> (8 * i) & 0xffu) / 255;
    result[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return result;
}

double luminance(Color color) {
  const Linear c = linear(color);
  return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

// WCAG 2: 1 to 21.
double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// How a person who lacks one kind of cone sees it (Viénot, Brettel, Mollon 1999; Brettel 1997 for the third).
enum class Sight { full, no_red, no_green, no_blue };
Linear seen(Color color, Sight sight) {
  const Linear c = linear(color);
  constexpr double m[3][3][3] = {
      {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
      {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
      {{1.01277, 0.13548, -0.14826}, {-0.01243, 0.86812, 0.14431}, {0.07589, 0.80500, 0.11911}}};
  if (sight == Sight::full) return c;
  const auto& matrix = m[static_cast<int>(sight) - 1];
  Linear result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * c[j];
  return result;
}

// CIE 1976 colour difference of two linear sRGB colours.
double difference(Linear a, Linear b) {
  const auto lab = [](Linear c) {
    const double x = (0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505,
                 y = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2],
                 z = (0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089;
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    return Linear{116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))};
  };
  const Linear p = lab(a), q = lab(b);
  return std::sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

}  // namespace

TEST_CASE("text can be read on panels and insets: contrast at least 4.5 to 1 in both themes", "[viz]") {
  for (ThemeName name : {ThemeName::dark, ThemeName::light}) {
    const Theme& t = theme_of(name);
    for (Color ground : {t.panel, t.inset}) {
      for (Color text : {t.text, t.soft, t.faint, t.good, t.bad}) CHECK(contrast(text, ground) >= 4.5);
    }
    CHECK(contrast(t.on_accent, t.accent) >= 3.0);                           // large, bold
    for (Color letter : t.tensors) CHECK(contrast(letter, t.panel) >= 3.0);  // bold letters and shapes
  }
}

// A difference of 2.3 is just noticeable. The closest pair, K and S, is told apart by letter and place besides.
TEST_CASE("Q, K, V, O and S stay apart for all three kinds of colour blindness", "[viz]") {
  constexpr Tensor tensors[] = {Tensor::Q, Tensor::K, Tensor::V, Tensor::S, Tensor::O};
  for (ThemeName name : {ThemeName::dark, ThemeName::light})
    for (Sight sight : {Sight::full, Sight::no_red, Sight::no_green, Sight::no_blue})
      for (Tensor a : tensors)
        for (Tensor b : tensors) {
          if (a >= b) continue;
          CAPTURE(static_cast<int>(name), static_cast<int>(sight), name_of(a), name_of(b));
          CHECK(difference(seen(theme_of(name).of(a), sight), seen(theme_of(name).of(b), sight)) >= 4);
        }
}

TEST_CASE("a tensor has the same colour wherever it is, and S and P share one", "[viz]") {
  const Theme& t = theme_of(ThemeName::dark);
  CHECK(t.of(Tensor::S) == t.of(Tensor::P));
  CHECK(t.of(Tensor::Q) == rgb(0x4ea3e0));
  CHECK(t.of(Tensor::m) == t.accent);
  CHECK(rgb(0x112233) == 0xff332211u);  // red in the low byte
}

#pragma once
// The one home of colour: a tensor's identity on every panel, chart and figure, and the greys that carry structure.

#include <array>
#include <cstdint>

#include "viz/model/intent.h"

namespace fa::viz {

using Color = std::uint32_t;  // as ImGui packs it: red in the low byte, alpha in the high one

constexpr Color rgb(std::uint32_t hex) { return 0xff000000u | (hex & 0xffu) << 16 | (hex & 0xff00u) | hex >> 16; }
// The same colour, `alpha` of 1 strong.
constexpr Color faded(Color color, float alpha) {
  const float a = static_cast<float>(color >> 24) * (alpha < 0 ? 0 : alpha > 1 ? 1 : alpha);
  return (color & 0x00ffffffu) | static_cast<Color>(a + 0.5f) << 24;
}
// `share` of `b` in `a`; both opaque.
constexpr Color mixed(Color a, Color b, float share) {
  Color result = 0xff000000u;
  for (int shift = 0; shift < 24; shift += 8) {
    const float x = static_cast<float>(a >> shift & 0xffu), y = static_cast<float>(b >> shift & 0xffu);
    result |= static_cast<Color>(x + (y - x) * share + 0.5f) << shift;
  }
  return result;
}

struct Theme {
  bool dark = true;
  Color window, panel, border;  // behind panels; a panel; its edge
  Color inset, inset_border;    // wells, tracks and cards in a panel
  Color text, soft, faint;      // all three can be read on a panel and on an inset
  Color accent, on_accent;      // m, l, rescale, the primary button
  Color good, bad;
  std::array<Color, tensor_count> tensors;

  Color of(Tensor tensor) const { return tensor == Tensor::none ? soft : tensors[static_cast<std::size_t>(tensor)]; }
};

const Theme& theme_of(ThemeName name);

}  // namespace fa::viz

#include "viz/draw/theme.h"

namespace fa::viz {
namespace {

// Q, K, V, S, P, O, LSE, m, l, keep. S and P share a hue: they are the same tile before and after exp.
// Then dO, dQ, dK, dV, D, dP, dS, dQ_acc: a gradient has the hue of what it is the gradient of. O_acc, LSE2 are copies.
constexpr std::array<Color, tensor_count> tensors(std::uint32_t q, std::uint32_t k, std::uint32_t v, std::uint32_t s,
                                                  std::uint32_t o, std::uint32_t accent, std::uint32_t grey) {
  return {rgb(q), rgb(k), rgb(v), rgb(s), rgb(s),      rgb(o), rgb(accent), rgb(accent), rgb(accent), rgb(grey),
          rgb(o), rgb(q), rgb(k), rgb(v), rgb(accent), rgb(s), rgb(s),      rgb(q),      rgb(o),      rgb(accent)};
}

constexpr Theme dark{.dark = true,
                     .window = rgb(0x0f1216),
                     .panel = rgb(0x171b21),
                     .border = rgb(0x2a313b),
                     .inset = rgb(0x1f252e),
                     .inset_border = rgb(0x313a46),
                     .text = rgb(0xe8ebf0),
                     .soft = rgb(0xa9b2bf),
                     .faint = rgb(0x8a94a2),
                     .accent = rgb(0xf0b429),
                     .on_accent = rgb(0x1a1405),
                     .good = rgb(0x5cc98b),
                     .bad = rgb(0xff8f7d),
                     .tensors = tensors(0x4ea3e0, 0xe8963a, 0x3db489, 0xd8c14a, 0xc989c9, 0xf0b429, 0x8a94a2)};

constexpr Theme light{.dark = false,
                      .window = rgb(0xf3f5f8),
                      .panel = rgb(0xffffff),
                      .border = rgb(0xd8dee6),
                      .inset = rgb(0xf0f3f6),
                      .inset_border = rgb(0xd3dae2),
                      .text = rgb(0x18212c),
                      .soft = rgb(0x465362),
                      .faint = rgb(0x5f6b79),
                      .accent = rgb(0xb87400),
                      .on_accent = rgb(0xffffff),
                      .good = rgb(0x0b7a43),
                      .bad = rgb(0xb3261e),
                      .tensors = tensors(0x1769aa, 0xc05f00, 0x00795a, 0x8a7400, 0x8c4b99, 0xb87400, 0x5f6b79)};

}  // namespace

const Theme& theme_of(ThemeName name) { return name == ThemeName::dark ? dark : light; }

}  // namespace fa::viz

#pragma once
// Which half of a training step: the forward gives O, the backward turns dO into dQ, dK and dV.

#include <optional>
#include <string_view>

namespace fa {

enum class Pass { forward, backward };

constexpr std::string_view name_of(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

constexpr std::optional<Pass> pass_named(std::string_view name) {
  if (name == name_of(Pass::forward)) return Pass::forward;
  if (name == name_of(Pass::backward)) return Pass::backward;
  return std::nullopt;
}

}  // namespace fa

#pragma once
// The tensors that live in HBM, by the paper's letters.

#include <array>
#include <optional>
#include <string_view>

namespace fa {

// dQ_acc: dQ in fp32 while blocks add to it, or while it travels; O_acc: O while it travels. LSE2: LSE to base 2, copied
// for a backward. keep: dropout's mask.
enum class Tensor : signed char {
  none = -1,
  Q,
  K,
  V,
  S,
  P,
  O,
  LSE,
  m,
  l,
  keep,
  dO,
  dQ,
  dK,
  dV,
  D,
  dP,
  dS,
  dQ_acc,
  O_acc,
  LSE2
};

inline constexpr std::array<std::string_view, 20> tensor_names{"Q", "K",  "V",    "S",      "P",     "O",   "LSE",
                                                               "m", "l",  "keep", "dO",     "dQ",    "dK",  "dV",
                                                               "D", "dP", "dS",   "dQ_acc", "O_acc", "LSE2"};
inline constexpr int tensor_count = static_cast<int>(tensor_names.size());

constexpr int index_of(Tensor tensor) { return static_cast<int>(tensor); }
constexpr std::string_view name_of(Tensor tensor) {
  return tensor == Tensor::none ? "" : tensor_names[static_cast<std::size_t>(tensor)];
}
constexpr Tensor tensor_at(int index) { return static_cast<Tensor>(index); }

std::optional<Tensor> tensor_named(std::string_view name);

}  // namespace fa

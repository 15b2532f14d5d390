#pragma once
// What every fuzz target does: hand bytes to a parser, which may refuse them by InputError and by nothing else.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/core/error.h"

namespace fa::fuzz {

template <class Parse>
int accepts(const std::uint8_t* data, std::size_t size, Parse parse) {
  try {
    parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const InputError&) {  // refused, as bad input is
  }
  return 0;
}

}  // namespace fa::fuzz

// A GPU's description.

#include "sim/config/hardware.h"
#include "tests/fuzz/accepts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fa::fuzz::accepts(data, size, [](std::string_view text) { fa::hardware_from_json(text, "fuzz", "fuzz"); });
}

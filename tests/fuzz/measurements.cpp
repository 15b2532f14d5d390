// A file of hardware counters.

#include "sim/record/measurement.h"
#include "tests/fuzz/accepts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fa::fuzz::accepts(
      data, size, [](std::string_view text) { fa::to_json(fa::measurements_from_json(std::string(text), "fuzz")); });
}

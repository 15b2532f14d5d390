// A file of tensors, and the attention inputs in it.

#include <span>

#include "sim/record/qkv.h"
#include "sim/record/safetensors.h"
#include "tests/fuzz/accepts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fa::fuzz::accepts(data, size, [](std::string_view text) {
    const fa::TensorFile file = fa::parse_safetensors(std::as_bytes(std::span(text)), "fuzz");
    fa::qkv_of(file);
  });
}

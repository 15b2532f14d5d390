// scene.json: what the visualizer is to show. It comes back as it was written.

#include "tests/fuzz/accepts.h"
#include "viz/app/scene_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fa::fuzz::accepts(data, size, [](std::string_view text) {
    const std::string written = fa::viz::to_json(fa::viz::scene_from_json(text, "fuzz", "/nowhere"));
    if (fa::viz::to_json(fa::viz::scene_from_json(written, "written", "/nowhere")) != written) __builtin_trap();
  });
}

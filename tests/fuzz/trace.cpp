// A trace: a run that comes back is one that can be replayed and written again.

#include "sim/sim.h"
#include "tests/fuzz/accepts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fa::fuzz::accepts(data, size, [](std::string_view text) {
    fa::Run run = fa::run_from_json(text, "fuzz");
    fa::replay(run, static_cast<std::int64_t>(run.events.size()));
    fa::to_json(run);
    for (const fa::Launch& launch : run.launches) {
      std::int64_t blocks = 0;
      for (fa::Accesses::Cursor at(launch.accesses); at.next();) ++blocks;
      if (blocks != launch.accesses.blocks()) __builtin_trap();
    }
  });
}

// How long the simulator takes. Limits (issue of the foundation, 2 cores): totals of 16 heads at n = 16k in 1 s for all
// programs together; closed forms at n = 1M in 16 ms; values of flash2 at n = 4096, d = 64 in 1 s.

#include <benchmark/benchmark.h>

#include "sim/sim.h"

namespace {

using namespace fa;

void totals(benchmark::State& state) {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.heads = 16, .kv_heads = 16, .n_q = 16384, .n_kv = 16384, .d = 128};
  for (auto _ : state)
    for (const Program& program : programs)
      benchmark::DoNotOptimize(run(program, p, default_tiling(program, p, h200), h200));
}
BENCHMARK(totals)->Name("totals, all programs, 16 heads, n 16k, d 128 (limit 1 s)")->Unit(benchmark::kMillisecond);

void backward_totals(benchmark::State& state) {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.heads = 16, .kv_heads = 16, .n_q = 16384, .n_kv = 16384, .d = 128};
  for (auto _ : state)
    for (const Program& program : programs)
      benchmark::DoNotOptimize(
          run(program, p, default_tiling(program, p, h200, Pass::backward), h200, {.pass = Pass::backward}));
}
BENCHMARK(backward_totals)->Name("totals of the backward, likewise (limit 1 s)")->Unit(benchmark::kMillisecond);

void dram(benchmark::State& state) {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.heads = 16, .kv_heads = 16, .n_q = 16384, .n_kv = 16384, .d = 128};
  std::vector<Run> runs;
  for (const Program& program : programs) runs.push_back(run(program, p, default_tiling(program, p, h200), h200));
  for (auto _ : state)
    for (const Run& record : runs) benchmark::DoNotOptimize(dram_traffic(record));
}
BENCHMARK(dram)->Name("DRAM behind L2, all programs, forward, likewise")->Unit(benchmark::kMillisecond);

void times(benchmark::State& state) {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.heads = 16, .kv_heads = 16, .n_q = 16384, .n_kv = 16384, .d = 128};
  const Program& flash3 = program_named("flash3");
  const Run record = run(flash3, p, default_tiling(flash3, p, h200), h200, {.detail = Detail::kinds});
  const RunTime time = model_time(record);
  for (auto _ : state) benchmark::DoNotOptimize(timeline(record, time.launches[0], 0, 1000));
}
BENCHMARK(times)->Name("timeline of one SM, flash3, n 16k, d 128 (limit 0.5 s)")->Unit(benchmark::kMillisecond);

void closed_forms(benchmark::State& state) {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.n_q = 1 << 20, .n_kv = 1 << 20, .d = 128, .causal = true};
  for (auto _ : state)
    for (const Program& program : programs)
      benchmark::DoNotOptimize(closed_form(program.name, p, default_tiling(program, p, h200), h200));
}
BENCHMARK(closed_forms)->Name("closed forms, all programs, n 1M, causal (limit 16 ms)")->Unit(benchmark::kMillisecond);

void values(benchmark::State& state) {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.n_q = 4096, .n_kv = 4096, .d = 64};
  const Operands operands = random_operands(p, 1);
  const Program& flash2 = program_named("flash2");
  for (auto _ : state)
    benchmark::DoNotOptimize(
        execute(flash2, p, default_tiling(flash2, p, h200), h200, {.detail = Detail::values}, &operands));
}
BENCHMARK(values)->Name("values, flash2, n 4096, d 64 (limit 1 s)")->Unit(benchmark::kMillisecond);

void replays(benchmark::State& state) {
  const Run record = run(program_named("flash2"), {.n_q = 512, .n_kv = 512, .d = 32}, {.rows_q = 16, .rows_kv = 16},
                         hardware_named("h200"), {.detail = Detail::events});
  for (auto _ : state) benchmark::DoNotOptimize(replay(record, static_cast<std::int64_t>(record.events.size())));
}
BENCHMARK(replays)->Name("replay of the last of 10k steps")->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();

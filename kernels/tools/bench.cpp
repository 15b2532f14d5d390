// fagpu bench: how fast each kernel is, one protocol for all.
//
// Random normal inputs, 5 warm-ups, then `repeats` rounds in which every kernel runs once, so that a clock that sinks
// under load sinks for all of them; the median of CUDA-event times. A launch is everything its pass does: pre- and
// post-kernels count. Flops are what the mathematics needs: 4 n_q n_kv d per head forward, 2.5 times that backward,
// half of it under a causal mask.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <stdexcept>

#include "kernels/tools/nvml.h"
#include "kernels/tools/operands.h"
#include "kernels/tools/options.h"
#include "kernels/tools/problems.h"

namespace fa::kernels {
namespace {

constexpr int warm_ups = 5;

double flops(const Problem& p, Pass pass) {
  const double products = 4.0 * static_cast<double>(p.heads_total()) * p.n_q * p.n_kv * p.d;
  return products * (pass == Pass::forward ? 1.0 : 2.5) * (p.causal ? 0.5 : 1.0);
}

double median(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : 0.5 * (static_cast<double>(values[middle - 1]) + static_cast<double>(values[middle]));
}

void print_row(const Problem& p, const Kernel& kernel, double ms, bool csv) {
  const double tflops = flops(p, kernel.pass) / ms * 1e-9;
  const std::string_view pass = kernel.pass == Pass::forward ? "fwd" : "bwd";
  if (csv)
    fmt::print("{},{},{},{},{},{},{},{},{:.4f},{:.1f}\n", kernel.name, pass, name_of(p.element), p.d, p.causal ? 1 : 0,
               p.n_q, p.batch, p.heads, ms, tflops);
  else
    fmt::print("{:<20} {:<4} {:<5} {:>4} {:<6} {:>7} {:>7} {:>6} {:>6} {:>10.4f} {:>8.1f}\n", kernel.name, pass,
               name_of(p.element), p.d, p.causal ? "causal" : "full", p.n_q, p.n_kv, p.batch, p.heads, ms, tflops);
  std::fflush(stdout);
}

// Times of every kernel on one problem.
void bench_problem(const Problem& p, const std::vector<Kernel>& list, const Device& device, const Options& options) {
  const Distribution numbers{.seed = options.seed};
  Operands x(p, Layout::packed, numbers, numbers, numbers);
  x.run_forward(device);  // the O and LSE that backward reads

  // One workspace for all of them: as large as the greediest asks.
  const auto greediest = std::max_element(list.begin(), list.end(), [&](const Kernel& a, const Kernel& b) {
    return workspace_bytes(a, p) < workspace_bytes(b, p);
  });
  x.make_workspace(*greediest);
  const Args args = x.args(p.scale());
  for (int round = 0; round < warm_ups; ++round)
    for (const Kernel& kernel : list) run(kernel, args);
  std::vector<std::deque<Timer>> timers(list.size());
  for (int round = 0; round < options.repeats; ++round)  // nothing waits in here: the host stays ahead of the GPU
    for (std::size_t i = 0; i < list.size(); ++i) {
      Timer& timer = timers[i].emplace_back();
      timer.start(args.stream);
      run(list[i], args);
      timer.stop(args.stream);
    }
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::vector<float> times;
    for (const Timer& timer : timers[i]) times.push_back(timer.milliseconds());
    print_row(p, list[i], median(times), options.csv);
  }
}

}  // namespace

int bench(const Options& options) {
  const Device device = current_device();
  std::vector<Problem> problems;
  if (options.names_a_problem()) {
    problems = {options.problem(4096, 16, 128, Element::bf16)};
  } else {
    problems = bench_problems();
    if (!options.elements.empty())
      for (Problem& p : problems) p.element = options.elements.front();
    std::erase_if(problems, [&](const Problem& p) { return !options.wants(p); });
  }

  fmt::print(stderr, "{}; {} warm-ups, median of {} runs, interleaved; at the start {}\n", device.name, warm_ups,
             options.repeats, clocks_text());
  if (options.csv)
    fmt::print("impl,pass,dtype,d,causal,n,batch,heads,ms_median,tflops\n");
  else
    fmt::print("{:<20} {:<4} {:<5} {:>4} {:<6} {:>7} {:>7} {:>6} {:>6} {:>10} {:>8}\n", "kernel", "pass", "", "d",
               "mask", "n_q", "n_kv", "batch", "heads", "ms", "TFLOP/s");
  int benched = 0;
  std::string refusal;
  for (const Problem& p : problems) {
    const std::vector<Kernel> list = options.kernels_for(p, device, refusal);
    if (list.empty()) continue;
    bench_problem(p, list, device, options);
    ++benched;
  }
  if (benched == 0)
    throw std::runtime_error(problems.empty() ? "no problem of the list has that --d, --element and --causal"
                                              : refusal);
  fmt::print(stderr, "at the end {}\n", clocks_text());
  return 0;
}

}  // namespace fa::kernels

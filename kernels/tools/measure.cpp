// fagpu measure: hardware counters of every kernel on many problems, into a file that `fasim measured` compares with
// the simulator.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "kernels/tools/caches.h"
#include "kernels/tools/metrics.h"
#include "kernels/tools/nvml.h"
#include "kernels/tools/operands.h"
#include "kernels/tools/options.h"
#include "kernels/tools/problems.h"
#include "kernels/tools/profiler.h"
#include "sim/sim.h"

namespace fa::kernels {
namespace {

constexpr float longest_launch_ms = 250;  // a launch is run a dozen times

constexpr std::string_view protocol =
    "Each kernel, forward or backward, is one range of the profiler, replayed until every counter is read. Before each "
    "replay 512 KB of other code run on every SM and 8 times the L2's size of other memory is read, so that "
    "instruction caches are cold, and L2 cold and clean. after_flush: the same read closes the range as well, and its "
    "own counts are subtracted. Inputs are standard normal. Clocks are left alone.";

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// "NVIDIA H200" -> "h200"
std::string slug(std::string name) {
  constexpr std::string_view vendor = "NVIDIA ";
  if (name.compare(0, vendor.size(), vendor) == 0) name.erase(0, vendor.size());
  for (char& c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                                                    : '-';
  return name;
}

std::string cuda_version() {
  int version = 0;
  must(cudaRuntimeGetVersion(&version), "asking for CUDA's version");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// Said at once, not after minutes of measuring.
void refuse_unwritable(const std::string& path) {
  const std::string probe = path + ".part";
  const bool writable = std::ofstream(probe).good();
  std::remove(probe.c_str());
  if (!writable)
    throw std::runtime_error(
        fmt::format("--out {}: cannot be written; name a file in a folder that exists and takes files", path));
}

// Seconds matter here: a kernel that needs too long is told, not waited for a dozen times.
float launch_ms(const Kernel& kernel, const Args& args) {
  Timer timer;
  timer.start(args.stream);
  run(kernel, args);
  timer.stop(args.stream);
  return timer.milliseconds();
}

// Kernels whose workspace this GPU has no room for are told and left out, as those that take too long.
void leave_out_too_large(std::vector<Kernel>& list, const Problem& problem) {
  std::size_t room = 0, all = 0;
  must(cudaMemGetInfo(&room, &all), "asking for free memory");
  std::erase_if(list, [&](const Kernel& kernel) {
    const std::size_t bytes = workspace_bytes(kernel, problem);
    if (bytes > room)
      fmt::print(stderr, "  left out: {} {}: its workspace takes {} MiB, and {} are free\n", kernel.name,
                 name_of(kernel.pass), bytes >> 20, room >> 20);
    return bytes > room;
  });
}

// Each kernel in passes of its own (metrics.h), but for the one pass with the flush: a range for each, and the flush alone.
std::vector<Measurement> measure_all(Profiler& profiler, const Caches& caches, const std::vector<Kernel>& list,
                                     const Args& args) {
  const auto prepare = [&] { caches.make_cold(); };
  const auto flush = [&] { caches.read_other_memory(); };
  std::vector<Measurement> measurements;
  std::vector<std::function<void()>> works_and_flushes;
  for (const Kernel& kernel : list) {
    works_and_flushes.push_back([&] { run(kernel, args), flush(); });
    Measurement& m = measurements.emplace_back();
    m.kernel = kernel.name;
    m.program = kernel.algorithm;
    m.pass = name_of(kernel.pass);
    m.kernel_d = kernel.d;
    m.tiling = kernel.tiling;
    m.problem = args.problem;
  }
  works_and_flushes.push_back(flush);
  const auto flushed = profiler.measure(flushed_metrics, prepare, works_and_flushes);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto work = [&] { run(list[i], args); };
    measurements[i].counters = profiler.measure(counted_metrics, prepare, {work}).front();
    for (const auto& [metric, value] : flushed[i])
      measurements[i].after_flush[metric] = std::max(0.0, value - flushed.back().at(metric));
  }
  return measurements;
}

}  // namespace

int measure(const Options& options) {
  const Device device = current_device();
  Profiler profiler;
  const Caches caches(device);

  std::string path = options.out;
  if (path.empty()) {
    const std::filesystem::path folder = assets_folder() / "measurements";
    std::filesystem::create_directories(folder);
    path = (folder / fmt::format("{}_{}.json", slug(device.name), today())).string();
  }
  refuse_unwritable(path);

  std::vector<Problem> problems;
  if (options.names_a_problem()) {
    problems = {options.problem(4096, 16, 128, Element::bf16)};
  } else {
    problems = measured_problems();
    std::erase_if(problems, [&](const Problem& p) { return !options.wants(p); });
  }
  MeasurementFile file;
  file.device = device.name;
  file.chip = profiler.chip();
  file.compute_capability = fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10);
  file.multiprocessors = device.multiprocessors;
  file.l2_bytes = static_cast<double>(device.l2_bytes);
  file.memory_bytes = static_cast<double>(device.memory_bytes);
  file.driver = driver_version();
  file.cuda = cuda_version();
  file.date = today();
  file.protocol = protocol;
  const std::string clocks_before = clocks_text();

  std::string refusal = "no problem of the list has that --d, --element and --causal";
  int done = 0;
  for (const Problem& p : problems) {
    ++done;
    std::vector<Kernel> list = options.kernels_for(p, device, refusal);
    if (list.empty()) continue;
    fmt::print(stderr, "{}/{} {}\n", done, problems.size(), describe(p));
    const Distribution numbers{.seed = options.seed};
    Operands x(p, Layout::packed, numbers, numbers, numbers);
    x.run_forward(device);
    leave_out_too_large(list, p);
    if (list.empty()) continue;
    // One workspace for all, as large as the one that needs most.
    x.make_workspace(*std::max_element(list.begin(), list.end(), [&](const Kernel& a, const Kernel& b) {
      return workspace_bytes(a, p) < workspace_bytes(b, p);
    }));
    const Args args = x.args(p.scale());
    std::erase_if(list, [&](const Kernel& kernel) {
      const float ms = launch_ms(kernel, args);
      if (ms > longest_launch_ms)
        fmt::print(stderr, "  left out: {} {}: one launch takes {:.0f} ms, and more than {:.0f} is too long\n",
                   kernel.name, name_of(kernel.pass), ms, longest_launch_ms);
      return ms > longest_launch_ms;
    });
    if (list.empty()) continue;
    for (Measurement& m : measure_all(profiler, caches, list, args)) file.measurements.push_back(std::move(m));
    // After every problem: a run that is cut short has measured something, and the file is whole.
    file.clocks = fmt::format("before: {}; after: {}", clocks_before, clocks_text());
    if (!file.measurements.empty()) write_measurements(file, path);
  }
  if (file.measurements.empty()) throw std::runtime_error(refusal);
  // A counter that comes back as no number is left out of the file: said here, or nobody would notice.
  const auto fewer = [](const Measurement& a, const Measurement& b) { return a.counters.size() < b.counters.size(); };
  const Measurement& fewest = *std::min_element(file.measurements.begin(), file.measurements.end(), fewer);
  for (const std::string_view metric : counted_metrics)
    if (!fewest.counter(metric))
      fmt::print(stderr, "  no number came back for {} of {} {}\n", metric, fewest.kernel, fewest.pass);
  fmt::print("{} measurements of {} problems on {}, at least {} of {} counters in each: {}\n", file.measurements.size(),
             problems.size(), device.name, fewest.counters.size(), counted_metrics.size(), path);
  return 0;
}

}  // namespace fa::kernels

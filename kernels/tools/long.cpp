// fagpu long: a sequence whose scores no GPU could hold. Runs it, holds some of its rows against double, and prints the
// memory that it took beside what naive attention would need.
//
// Rows [a, b) under a causal mask are a problem of their own: b − a queries, aligned bottom-right with the keys that the
// last of them sees. So the reference and the rule of `fagpu check` serve for them as they are.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "kernels/tools/compare.h"
#include "kernels/tools/options.h"
#include "kernels/tools/plain.h"
#include "kernels/tools/problems.h"
#include "sim/sim.h"

namespace fa::kernels {
namespace {

constexpr int rows_at_once = 64, places = 6;

// The operands of a forward pass, and no others.
struct Forward {
  explicit Forward(const Problem& p)
      : q(p.element, 1, p.n_q, p.heads, p.d),
        k(p.element, 1, p.n_kv, p.kv_heads, p.d),
        v(p.element, 1, p.n_kv, p.kv_heads, p.d),
        o(output_element(p.element), 1, p.n_q, p.heads, p.d),
        lse(Element::fp32, 1, p.heads, 1, p.n_q) {}

  Tensor q, k, v, o, lse;
};

// Rows [first, first + count) of a packed tensor with one batch.
Tensor rows_of(const Tensor& t, int first, int count) {
  Tensor part(t.element(), 1, count, t.heads(), t.d());
  const std::int64_t row = std::int64_t{t.heads()} * t.d() * size_of(t.element());
  must(cudaMemcpy(part.view().data, static_cast<const char*>(t.view().data) + first * row,
                  static_cast<std::size_t>(count * row), cudaMemcpyDeviceToDevice),
       "copying rows");
  return part;
}

// True if rows [first, first + count) are right.
bool check_rows(const Problem& p, const Forward& x, int first, int count) {
  Problem part = p;
  part.n_q = count;
  part.n_kv = p.visible_keys(first + count - 1);
  const Tensor q = rows_of(x.q, first, count), k = rows_of(x.k, 0, part.n_kv), v = rows_of(x.v, 0, part.n_kv),
               o = rows_of(x.o, first, count);
  const DeviceBuffer lse(sizeof(float) * static_cast<std::size_t>(p.heads) * static_cast<std::size_t>(count));
  must(cudaMemcpy2D(lse.data(), sizeof(float) * static_cast<std::size_t>(count),
                    static_cast<const float*>(x.lse.view().data) + first,
                    sizeof(float) * static_cast<std::size_t>(p.n_q), sizeof(float) * static_cast<std::size_t>(count),
                    static_cast<std::size_t>(p.heads), cudaMemcpyDeviceToDevice),
       "copying rows");

  const Inputs inputs{part, static_cast<float>(p.scale()), q, k, v};
  const Answer<double> truth = reference_attention(inputs);
  const Answer<float> plain = plain_attention(inputs);
  const Difference of_o = compare(o, truth.o, plain.o), of_lse = compare_lse(lse.as<float>(), truth.lse, plain.lse);
  const bool right =
      of_o.wrong_kind == 0 && of_lse.wrong_kind == 0 && of_o.error <= of_o.tolerance() && of_lse.error <= lse_tolerance;
  fmt::print("rows {:>8} to {:>8} on {:>8} keys: O off by {:.2e} (allowed {:.2e}), LSE by {:.1e} (allowed {:.0e}){}\n",
             first, first + count - 1, part.n_kv, of_o.error, of_o.tolerance(), of_lse.error, lse_tolerance,
             right ? "" : "  FAIL");
  return right;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  must(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

}  // namespace

int check_long(const Options& options) {
  const Device device = current_device();
  Problem p = options.problem(1 << 20, 1, 128, Element::bf16);
  p.causal = options.causal.value_or(true);
  if (p.batch != 1) throw std::runtime_error("--batch: `fagpu long` takes one batch; give it more --heads instead");
  Options forward = options;
  forward.pass = Pass::forward;
  std::string refusal;
  const std::vector<Kernel> list = forward.kernels_for(p, device, refusal);
  if (list.empty()) throw std::runtime_error(refusal);
  const Kernel& kernel = list.front();

  const std::size_t free_before = free_bytes();
  Forward x(p);
  const DeviceBuffer workspace(workspace_bytes(kernel, p));
  const std::size_t used = free_before - free_bytes();
  std::uint64_t stream = 8 * options.seed;
  for (Tensor* tensor : {&x.q, &x.k, &x.v}) tensor->randomise({.seed = stream++, .mean = 0.1f});
  const Args args{.problem = p,
                  .scale = static_cast<float>(p.scale()),
                  .q = x.q.view(),
                  .k = x.k.view(),
                  .v = x.v.view(),
                  .o = x.o.view(),
                  .lse = static_cast<float*>(x.lse.view().data),
                  .workspace = workspace.data()};
  Timer timer;
  timer.start(args.stream);
  run(kernel, args);
  timer.stop(args.stream);
  fmt::print("{}: {} on {}, {:.0f} ms\n", kernel.name, describe({p}), device.name, timer.milliseconds());

  // Both ends, and places in between that differ with the seed.
  const int count = std::min(rows_at_once, p.n_q);
  std::set<int> starts{0, p.n_q - count};
  std::mt19937 random(static_cast<std::mt19937::result_type>(options.seed));
  while (static_cast<int>(starts.size()) < places && p.n_q > places * count)
    starts.insert(static_cast<int>(random() % static_cast<std::mt19937::result_type>(p.n_q - count)));
  int passed = 0, failed = 0;
  for (const int first : starts) {
    if (p.visible_keys(first + count - 1) == 0) continue;
    (check_rows(p, x, first, count) ? passed : failed) += 1;
  }

  const Hardware hardware = hardware_named("h200");
  const auto gigabytes = [&](std::string_view program, const Tiling& tiling) {
    const Bytes bytes = footprint_of(program_named(program), p, tiling, hardware, Pass::forward);
    return static_cast<double>(bytes.count()) * 1e-9;
  };
  fmt::print("memory: {:.2f} GB taken on the GPU; the simulator says {:.2f} GB, and {:.0f} GB for naive attention\n",
             static_cast<double>(used) * 1e-9, gigabytes(kernel.algorithm, kernel.tiling),
             gigabytes("naive", square_tiling(p.d)));
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace fa::kernels

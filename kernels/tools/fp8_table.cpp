#include "kernels/tools/fp8_table.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "kernels/tools/compare.h"
#include "kernels/tools/operands.h"
#include "kernels/tools/plain.h"
#include "kernels/tools/problems.h"

namespace fa::kernels {
namespace {

// N(0, 1) + N(0, 100) · Bernoulli(0.001), 100 being the variance: a rare number is normal with variance 101.
Distribution paper_numbers(std::uint64_t seed) {
  return {.seed = seed, .outliers = 0.001f, .outlier_scale = std::sqrt(101.0f)};
}

double rmse(const std::vector<double>& values, const std::vector<double>& truth) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += (values[i] - truth[i]) * (values[i] - truth[i]);
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

const Kernel& chosen(const Problem& problem, const Device& device) {
  const Choice choice = choose(problem, Pass::forward, device);
  if (choice.kernel == nullptr) throw std::runtime_error(choice.sentence);
  return *choice.kernel;
}

// What the chosen kernel makes of the operands.
std::vector<double> output(Operands& x, const Device& device) {
  x.run_forward(device);
  return host_numbers(x.o);
}

// The operands of `from`, cast to 8 bits: a scale for each tile of the kernel or for each head.
void cast(const Operands& from, Operands& to, const Kernel& kernel, bool by_tile, bool rotate) {
  const auto one = [&](const Tensor& source, Tensor& target, ScaleTable& table, int tile, bool rotated) {
    const int rows = by_tile ? tile : source.n();
    table = ScaleTable(target, rows);
    quantise({.element = source.element(),
              .batch = source.batch(),
              .n = source.n(),
              .heads = source.heads(),
              .d = source.d(),
              .from = source.view(),
              .to = target.view(),
              .scales = table.values.as<float>(),
              .rows = rows,
              .rotate = rotated});
  };
  one(from.q, to.q, to.q_scales, kernel.tiling.rows_q, rotate);
  one(from.k, to.k, to.k_scales, kernel.tiling.rows_kv, rotate);
  one(from.v, to.v, to.v_scales, kernel.tiling.rows_kv, false);
}

}  // namespace

Fp8Table fp8_table(const Device& device, std::uint64_t seed) {
  // The paper does not name its sizes. Errors fall with d: at d 64 they are half as large again.
  const Problem half{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 1024, .d = 128, .element = Element::fp16};
  Problem eight = half;
  eight.element = Element::e4m3;
  const Kernel& kernel = chosen(eight, device);

  // The same numbers in three types: what storing them in 16 bits does is part of the error.
  Problem single = half;
  single.element = Element::fp32;
  const Distribution numbers = paper_numbers(seed);
  const Operands exact(single, Layout::packed, numbers, numbers, numbers);
  Operands x(half, Layout::packed, numbers, numbers, numbers), x8(eight, Layout::packed, numbers, numbers, numbers);
  const std::vector<double> truth = host_numbers(reference_attention(exact.inputs(half.scale(), nullptr)).o);
  const auto error_of = [&](bool by_tile, bool rotate) {
    cast(x, x8, kernel, by_tile, rotate);
    return rmse(output(x8, device), truth);
  };
  x.o.set_from(plain_attention(x.inputs(half.scale(), nullptr)).o.as<float>());
  const double plain = rmse(host_numbers(x.o), truth);
  return {fmt::format("{}, inputs N(0,1) + N(0,100) Bernoulli(0.001)", describe({half})),
          {{"fp16, plain", plain, 3.2e-4},
           {fmt::format("fp16, {}", chosen(half, device).name), rmse(output(x, device), truth), 1.9e-4},
           {fmt::format("e4m3, {}, a scale for each tile, rotated", kernel.name), error_of(true, true), 9.1e-3},
           {"  a scale for each head, rotated", error_of(false, true), 9.3e-3},
           {"  a scale for each tile, not rotated", error_of(true, false), 2.4e-2},
           {"  a scale for each head, not rotated", error_of(false, false), 2.4e-2}}};
}

}  // namespace fa::kernels

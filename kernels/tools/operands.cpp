#include "kernels/tools/operands.h"

#include <algorithm>
#include <array>

namespace fa::kernels {
namespace {

constexpr std::size_t guard = 4096;  // bytes behind the workspace

}  // namespace

Operands::Operands(const Problem& p, Layout layout, const Distribution& queries, const Distribution& keys,
                   const Distribution& values)
    : problem(p),
      q(p.element, p.batch, p.n_q, p.heads, p.d, layout),
      k(p.element, p.batch, p.n_kv, p.kv_heads, p.d, layout),
      v(p.element, p.batch, p.n_kv, p.kv_heads, p.d, layout),
      o(output_element(p.element), p.batch, p.n_q, p.heads, p.d, layout),
      d_out(output_element(p.element), p.batch, p.n_q, p.heads, p.d, layout),
      dq(p.element, p.batch, p.n_q, p.heads, p.d, layout),
      dk(p.element, p.batch, p.n_kv, p.kv_heads, p.d, layout),
      dv(p.element, p.batch, p.n_kv, p.kv_heads, p.d, layout),
      lse(Element::fp32, p.batch, p.heads, 1, p.n_q) {
  const auto seeded = [](Distribution distribution, std::uint64_t stream) {
    distribution.seed = distribution.seed * 8 + stream;
    return distribution;
  };
  q.randomise(seeded(queries, 0));
  k.randomise(seeded(keys, 1));
  v.randomise(seeded(values, 2));
  d_out.randomise(seeded(values, 3));
}

Args Operands::args(double scale) const {
  return {.problem = problem,
          .scale = static_cast<float>(scale),
          .q = q.view(),
          .k = k.view(),
          .v = v.view(),
          .o = o.view(),
          .lse = static_cast<float*>(lse.view().data),
          .d_out = d_out.view(),
          .dq = dq.view(),
          .dk = dk.view(),
          .dv = dv.view(),
          .workspace = workspace.data(),
          .stream = nullptr,
          .q_scales = q_scales.scales(),
          .k_scales = k_scales.scales(),
          .v_scales = v_scales.scales()};
}

Inputs Operands::inputs(double scale, const Tensor* gradient) const {
  return {problem, scale, q, k, v, gradient, q_scales.scales(), k_scales.scales(), v_scales.scales()};
}

void Operands::make_scales(int rows, std::uint64_t seed) {
  q_scales = ScaleTable(q, std::max(1, rows * 3 / 8));
  k_scales = ScaleTable(k, rows);
  v_scales = ScaleTable(v, rows);
  for (ScaleTable* table : {&q_scales, &k_scales, &v_scales}) table->randomise(seed++);
}

void Operands::make_workspace(const Kernel& kernel) {
  const std::size_t bytes = workspace_bytes(kernel, problem) + guard;
  if (workspace.bytes() != bytes) {
    workspace = DeviceBuffer();  // the old one is freed first: two of naive's may not fit
    workspace = DeviceBuffer(bytes);
  }
  must(cudaMemset(workspace.data(), 0xFF, bytes), "poisoning the workspace");
}

bool Operands::workspace_guard_intact() const {
  std::array<unsigned char, guard> tail{};
  must(cudaMemcpy(tail.data(), workspace.as<char>() + workspace.bytes() - guard, guard, cudaMemcpyDeviceToHost),
       "running a kernel");
  return std::all_of(tail.begin(), tail.end(), [](unsigned char byte) { return byte == 0xFF; });
}

void Operands::run_forward(const Device& device) {
  const Choice choice = choose(problem, Pass::forward, device);
  if (choice.kernel == nullptr) throw std::runtime_error(choice.sentence);
  make_workspace(*choice.kernel);
  run(*choice.kernel, args(problem.scale()));
  must(cudaDeviceSynchronize(), "running the forward pass");
}

}  // namespace fa::kernels

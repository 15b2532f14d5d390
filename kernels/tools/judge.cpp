#include "kernels/tools/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/sim.h"

namespace fa::kernels {
namespace {

using Special = Case::Special;

Operands make_operands(const Case& c, std::uint64_t seed) {
  // The official suites' overflow test: q · 5, k and v · 3.
  const bool large = c.special == Special::large_logits;
  // In a case of their own: one outlier of Q can rule dK, and the largest of a few errors is luck, for plain too.
  const float outliers = c.special == Special::outliers ? 0.001f : 0.0f;
  const Distribution queries{.seed = seed, .scale = large ? 5.0f : 1.0f, .mean = 0.1f, .outliers = outliers};
  const Distribution keys{.seed = seed, .scale = large ? 3.0f : 1.0f, .mean = 0.1f, .outliers = outliers};
  return {c.problem, c.layout, queries, keys, keys};
}

bool has_nan(Special special) {
  return special == Special::nan_in_q || special == Special::nan_in_k || special == Special::infinite_k;
}

}  // namespace

Judge::Judge(const Case& c, std::uint64_t seed) : case_(c), operands_(make_operands(c, seed)) {
  const Problem& p = c.problem;
  // As the kernels get it: a float.
  scale_ = static_cast<double>(static_cast<float>(c.special == Special::tiny_scale ? 1e-3 : p.scale()));
  if (c.special == Special::nan_in_q) operands_.q.set(0, p.n_q / 2, 0, 3, NAN);
  if (c.special == Special::nan_in_k) operands_.k.set(0, p.n_kv / 3, 0, 5, NAN);
  if (c.special == Special::infinite_k) operands_.k.set(0, p.n_kv / 3, 0, 5, INFINITY);
  if (empty()) return;
  if (c.scale_rows != 0) operands_.make_scales(c.scale_rows, seed);
  const Tensor* const d_out = backward_is_defined() ? &operands_.d_out : nullptr;
  const Inputs inputs = operands_.inputs(scale_, d_out);
  truth_ = reference_attention(inputs);
  plain_ = plain_attention(inputs);
  if (p.element == Element::e4m3) tensor_core_lse_ = tensor_core_lse(inputs);
}

bool Judge::empty() const { return case_.problem.batch == 0 || case_.problem.n_q == 0 || case_.problem.n_kv == 0; }

bool Judge::backward_is_defined() const {
  return case_.problem.element != Element::e4m3 && !(case_.problem.causal && has_nan(case_.special));
}

Verdict Judge::judge(const Kernel& kernel) {
  Verdict verdict;
  if (kernel.pass == Pass::backward && !empty()) {
    operands_.o.set_from(truth_.o.as<double>());
    operands_.lse.set_from(truth_.lse.as<double>());
  }
  launch(kernel);
  if (!operands_.workspace_guard_intact()) verdict.complaints.push_back("wrote past the end of its workspace");
  const std::vector<Output> outputs = outputs_of(kernel.pass);
  for (const Output& output : outputs) {
    judge_numbers(kernel, output, verdict);
    if (const auto bytes = output.tensor->touched_gaps(); bytes != 0)
      verdict.complaints.push_back(fmt::format("{}: {} bytes outside the tensor were written", output.name, bytes));
  }
  if (case_.layout == Layout::far) return verdict;  // gigabytes: once is enough

  std::vector<DeviceBuffer> before;
  for (const Output& output : outputs) before.push_back(copy_of(output.tensor->buffer()));
  launch(kernel);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].tensor == &operands_.dq) continue;
    if (const auto words = different_words(outputs[i].tensor->buffer(), before[i]); words != 0)
      verdict.complaints.push_back(fmt::format("{}: a second run differs in {} words", outputs[i].name, words));
  }
  return verdict;
}

std::vector<Judge::Output> Judge::outputs_of(Pass pass) {
  Operands& x = operands_;
  if (pass == Pass::forward) {
    std::vector<Output> outputs{{"O", &x.o, &truth_.o, &plain_.o}, {"LSE", &x.lse, &truth_.lse, &plain_.lse}};
    if (case_.problem.element == Element::e4m3)
      outputs.push_back({"LSE beside the tensor cores' scores", &x.lse, &tensor_core_lse_, &plain_.lse});
    return outputs;
  }
  return {{"dQ", &x.dq, &truth_.dq, &plain_.dq},
          {"dK", &x.dk, &truth_.dk, &plain_.dk},
          {"dV", &x.dv, &truth_.dv, &plain_.dv}};
}

void Judge::launch(const Kernel& kernel) {
  for (const Output& output : outputs_of(kernel.pass)) output.tensor->poison();
  operands_.make_workspace(kernel);
  try {
    run(kernel, operands_.args(scale_));
    must(cudaDeviceSynchronize(), "running the kernel");
  } catch (const std::exception& error) {  // CUDA answers nothing more after a crash: say whose it was
    throw std::runtime_error(fmt::format("{} {} (d {}) on {}: {}", kernel.name, name_of(kernel.pass), kernel.d,
                                         describe(case_), error.what()));
  }
}

void Judge::judge_numbers(const Kernel& kernel, const Output& output, Verdict& verdict) const {
  const auto& [name, tensor, truth, plain] = output;
  if (empty()) {  // without keys or queries: zeros, and LSE = -inf
    if (tensor->count() == 0) return;
    const double wanted = tensor == &operands_.lse ? -INFINITY : 0.0;
    const std::vector<double> values = host_numbers(*tensor);
    const auto wrong = std::count_if(values.begin(), values.end(), [&](double value) { return value != wanted; });
    if (wrong != 0)
      verdict.complaints.push_back(
          fmt::format("{}: {} numbers are not the {} of an empty problem", name, wrong, wanted));
    return;
  }
  const bool is_lse = tensor == &operands_.lse;
  const Difference difference = is_lse ? compare_lse(static_cast<const float*>(tensor->view().data), *truth, *plain)
                                       : compare(*tensor, *truth, *plain);
  double tolerance = is_lse ? lse_tolerance : difference.tolerance();
  // Naive attention keeps S in the element type, as plain attention does, and its LSE can be no better. The tensor cores
  // sum 8-bit scores to about 14 bits: an LSE may be as far off as plain attention's, but 1e-3 from what they give.
  if (truth == &truth_.lse && (kernel.algorithm == "naive" || case_.problem.element == Element::e4m3))
    tolerance = std::max(tolerance, 2 * difference.plain_error);
  if (difference.wrong_kind != 0)
    verdict.complaints.push_back(fmt::format(
        "{}: {} numbers are NaN or infinite and should not be, or should be and are not", name, difference.wrong_kind));
  if (!(difference.error <= tolerance))
    verdict.complaints.push_back(
        fmt::format("{}: error {:.3g} is over the tolerance {:.3g}", name, difference.error, tolerance));
  if (tolerance > 0) verdict.worst = std::max(verdict.worst, difference.error / tolerance);
}

}  // namespace fa::kernels

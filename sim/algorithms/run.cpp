#include "sim/algorithms/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/algorithms/reference.h"
#include "sim/config/check.h"

namespace fa {
namespace {

// The operand as it stands in HBM: rounded to the element type.
Matrix rounded(const Matrix& values, Element element) {
  Matrix result = values;
  round_all(element, result.values());
  return result;
}

HbmTensor operand(Machine& machine, Tensor id, Head heads, int rows, const std::vector<Matrix>* values) {
  const Problem& p = machine.problem();
  HbmTensor tensor = machine.hbm(id, heads, rows, p.d, p.element);
  for (Head head = 0; values && head < heads; ++head)
    tensor.values(head) = rounded(values->at(static_cast<std::size_t>(head)), p.element);
  return tensor;
}

Executed prepared(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                  Detail detail) {
  if (auto why = why_invalid(problem, tiling, hardware)) throw SpecError(*why);
  if (problem.element == Element::e4m3 || problem.element == Element::byte)
    throw SpecError(fmt::format("--element {} is not taken by {}; choose fp32, fp16 or bf16.", name_of(problem.element),
                                program.name));
  Executed executed;
  executed.run.program = program.name;
  executed.run.problem = problem;
  executed.run.tiling = tiling;
  executed.run.hardware = hardware;
  executed.run.detail = detail;
  return executed;
}

void perform(const Program& program, Machine& machine, Executed& executed, const Operands* operands) {
  const Run& run = executed.run;
  const Problem& p = run.problem;
  if (run.detail != Detail::values) operands = nullptr;
  Inputs in{.problem = p,
            .Q = operand(machine, Tensor::Q, p.heads_total(), p.n_q, operands ? &operands->q : nullptr),
            .K = operand(machine, Tensor::K, p.kv_heads_total(), p.n_kv, operands ? &operands->k : nullptr),
            .V = operand(machine, Tensor::V, p.kv_heads_total(), p.n_kv, operands ? &operands->v : nullptr)};
  program.forward(machine, in, run.tiling, executed.output);
}

double difference(double value, double truth) {
  if (std::isnan(value) || std::isnan(truth)) return std::isnan(value) && std::isnan(truth) ? 0.0 : INFINITY;
  return value == truth ? 0.0 : std::fabs(value - truth);  // equal infinities differ by nothing
}

}  // namespace

Executed execute(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                 const RunOptions& options, const Operands* operands) {
  Executed executed = prepared(program, problem, tiling, hardware, options.detail);
  Machine machine(executed.run, options.record_values, std::numeric_limits<std::int64_t>::max());
  perform(program, machine, executed, operands);
  return executed;
}

Run run(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
        const RunOptions& options, const Operands* operands) {
  return execute(program, problem, tiling, hardware, options, operands).run;
}

State run_until(std::int64_t steps, const Program& program, const Problem& problem, const Tiling& tiling,
                const Hardware& hardware, const RunOptions& options, const Operands* operands) {
  Executed executed = prepared(program, problem, tiling, hardware, options.detail);
  Machine machine(executed.run, options.record_values, steps);
  try {
    perform(program, machine, executed, operands);
  } catch (const Machine::Stopped&) {  // as asked
  }
  return machine.state();
}

Truth truth_of(const Problem& p, const Operands& operands) {
  Truth truth;
  for (Head head = 0; head < p.heads_total(); ++head) {
    const auto kv = static_cast<std::size_t>(p.kv_head_of(head));
    const Matrix q = rounded(operands.q[static_cast<std::size_t>(head)], p.element),
                 k = rounded(operands.k[kv], p.element), v = rounded(operands.v[kv], p.element);
    truth.reference.push_back(reference_attention(p, q, k, v));
    truth.plain.push_back(plain_attention(p, q, k, v));
  }
  return truth;
}

Accuracy accuracy(const Executed& executed, const Truth& truth) {
  const Problem& p = executed.run.problem;
  const Output& out = executed.output;
  const auto stored = [&](double value) { return round_to(p.element, static_cast<float>(value)); };
  Accuracy result;
  double atol = 0;
  for (Head head = 0; head < p.heads_total(); ++head) {
    const Reference& reference = truth.reference[static_cast<std::size_t>(head)];
    const std::span<const float> plain = truth.plain[static_cast<std::size_t>(head)].values();
    const std::span<const float> ours = out.O.values(head).values();
    for (std::size_t i = 0; i < reference.o.size(); ++i) {
      const double o = reference.o[i];
      result.max_abs_error = std::max(result.max_abs_error, difference(ours[i], o));
      result.plain_max_abs_error = std::max(result.plain_max_abs_error, difference(plain[i], o));
      // atol = 2 · max |(ref + 0.3 − 0.3) − ref| in the element type: one rounding at a magnitude of 0.3 (DESIGN.md).
      const float there_and_back = stored(stored(stored(o) + 0.3f) - 0.3f);
      if (std::isfinite(there_and_back)) atol = std::max(atol, 2.0 * std::fabs(there_and_back - stored(o)));
    }
    for (std::size_t i = 0; i < reference.lse.size() && (out.LSE || out.m); ++i) {
      const int row = static_cast<int>(i);
      // flash1 leaves m and l; LSE is what the pair means.
      const double lse =
          out.LSE ? out.LSE.values(head).at(row, 0)
                  : out.m.values(head).at(row, 0) + std::log(static_cast<double>(out.l.values(head).at(row, 0)));
      const double size = std::isfinite(reference.lse[i]) ? std::max(1.0, std::fabs(reference.lse[i])) : 1.0;
      result.lse_max_error = std::max(result.lse_max_error, difference(lse, reference.lse[i]) / size);
    }
  }
  result.tolerance = 2 * result.plain_max_abs_error + atol;
  result.exact = result.max_abs_error <= result.tolerance && result.lse_max_error <= 1e-3;
  return result;
}

}  // namespace fa

#include "sim/algorithms/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "sim/algorithms/reference.h"
#include "sim/config/check.h"

namespace fa {
namespace {

// The operand as it stands in HBM: rounded to the element type.
std::vector<Matrix> rounded(const std::vector<Matrix>& heads, Element element) {
  std::vector<Matrix> result = heads;
  for (Matrix& head : result) round_all(element, head.values());
  return result;
}

HbmTensor operand(Machine& machine, Tensor id, Head heads, int rows, const std::vector<Matrix>* values) {
  const Problem& p = machine.problem();
  HbmTensor tensor = machine.hbm(id, heads, rows, p.d, p.element);
  if (!values) return tensor;
  const std::vector<Matrix> stored = rounded(*values, p.element);
  for (Head head = 0; head < heads; ++head) tensor.values(head) = stored.at(static_cast<std::size_t>(head));
  return tensor;
}

Executed prepared(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                  const RunOptions& options) {
  if (auto why = why_invalid(problem, tiling, hardware)) throw SpecError(*why);
  const bool eight_bits = problem.element == Element::e4m3;
  if (problem.element == Element::byte || (eight_bits && (program.forward != flash3 || options.pass == Pass::backward)))
    throw SpecError(fmt::format("--element {} is not taken by {}; choose fp32, fp16 or bf16{}.",
                                name_of(problem.element), program.name,
                                eight_bits ? ", or the forward of flash3" : ""));
  if (options.pass == Pass::backward && !program.backward)
    throw SpecError(fmt::format("--pass backward is not written for {}; choose --pass forward.", program.name));
  Executed executed;
  executed.run.program = program.name;
  executed.run.pass = options.pass;
  executed.run.problem = problem;
  executed.run.tiling = tiling;
  executed.run.hardware = hardware;
  executed.run.detail = options.detail;
  return executed;
}

// Q, K or V in 8 bits, with a scale for every tile of `rows`, or for every head.
void put_quantised(HbmTensor& tensor, const std::vector<Matrix>& values, int rows, bool by_tile) {
  Quantised quantised = quantise(values, by_tile ? rows : tensor.rows());
  tensor.set_scales(quantised.rows, std::move(quantised.scales));
  for (Head head = 0; head < tensor.heads(); ++head)
    tensor.values(head) = std::move(quantised.stored[static_cast<std::size_t>(head)]);
}

void quantise_inputs(Inputs& in, const Operands& operands, const Tiling& t, const Quantisation& how) {
  put_quantised(in.Q, how.rotate ? rotated(operands.q) : operands.q, t.rows_q, how.by_tile);
  put_quantised(in.K, how.rotate ? rotated(operands.k) : operands.k, t.rows_kv, how.by_tile);
  put_quantised(in.V, operands.v, t.rows_kv, how.by_tile);
}

void perform(const Program& program, Machine& machine, Executed& executed, const Operands* operands,
             const Quantisation& quantisation) {
  const Run& run = executed.run;
  const Problem& p = run.problem;
  if (run.detail != Detail::values) operands = nullptr;
  Inputs in{.problem = p,
            .Q = operand(machine, Tensor::Q, p.heads_total(), p.n_q, operands ? &operands->q : nullptr),
            .K = operand(machine, Tensor::K, p.kv_heads_total(), p.n_kv, operands ? &operands->k : nullptr),
            .V = operand(machine, Tensor::V, p.kv_heads_total(), p.n_kv, operands ? &operands->v : nullptr)};
  if (operands && p.element == Element::e4m3) quantise_inputs(in, *operands, run.tiling, quantisation);
  if (run.pass == Pass::forward) return program.forward(machine, in, run.tiling, executed.output);

  BackwardInputs backward{in, {}, {}};
  backward.dO = operand(machine, Tensor::dO, p.heads_total(), p.n_q, operands ? &operands->d_o : nullptr);
  const Detail detail = operands ? Detail::values : Detail::layout;
  backward.forward = execute(program, p, run.tiling, run.hardware, {.detail = detail}, operands).output;
  for (const HbmTensor* tensor : backward.forward.tensors()) machine.keep(*tensor);
  executed.gradients.problem = p;
  program.backward(machine, backward, run.tiling, executed.gradients);
}

double difference(double value, double truth) {
  if (std::isnan(value) || std::isnan(truth)) return std::isnan(value) && std::isnan(truth) ? 0.0 : INFINITY;
  return value == truth ? 0.0 : std::fabs(value - truth);  // equal infinities differ by nothing
}

// The error of one result, gathered head by head.
class Errors {
 public:
  Errors(const HbmTensor& ours, Element element) : ours_(ours), element_(element) { result_.tensor = ours.id(); }

  void add(std::size_t head, const std::vector<double>& reference, const Matrix& plain) {
    const std::span<const float> values = ours_.values(static_cast<Head>(head)).values();
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const double truth = reference[i];
      result_.max_abs_error = std::max(result_.max_abs_error, difference(values[i], truth));
      result_.plain_max_abs_error = std::max(result_.plain_max_abs_error, difference(plain.values()[i], truth));
      // atol = 2 · max |(ref + 0.3 − 0.3) − ref| in the element type: one rounding at a magnitude of 0.3 (DESIGN.md).
      const float there_and_back = stored(stored(stored(truth) + 0.3f) - 0.3f);
      if (std::isfinite(there_and_back)) atol_ = std::max(atol_, 2.0 * std::fabs(there_and_back - stored(truth)));
    }
  }
  TensorError result() const {
    TensorError result = result_;
    result.tolerance = 2 * result.plain_max_abs_error + atol_;
    return result;
  }

 private:
  float stored(double value) const { return round_to(element_, static_cast<float>(value)); }

  const HbmTensor& ours_;
  Element element_;
  TensorError result_;
  double atol_ = 0;
};

// Of LSE, or of what flash1's m and l mean as one.
double lse_error(const Output& out, const Truth& truth) {
  double largest = -1;
  if (!out.LSE && !out.m) return largest;
  for (std::size_t head = 0; head < truth.reference.size(); ++head)
    for (std::size_t i = 0; i < truth.reference[head].lse.size(); ++i) {
      const int row = static_cast<int>(i);
      const Head h = static_cast<Head>(head);
      const double reference = truth.reference[head].lse[i];
      const double lse = out.LSE
                             ? out.LSE.values(h).at(row, 0)
                             : out.m.values(h).at(row, 0) + std::log(static_cast<double>(out.l.values(h).at(row, 0)));
      const double size = std::isfinite(reference) ? std::max(1.0, std::fabs(reference)) : 1.0;
      largest = std::max(largest, difference(lse, reference) / size);
    }
  return largest;
}

}  // namespace

Executed execute(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                 const RunOptions& options, const Operands* operands) {
  Executed executed = prepared(program, problem, tiling, hardware, options);
  Machine machine(executed.run, options.record_values, std::numeric_limits<std::int64_t>::max());
  perform(program, machine, executed, operands, options.quantisation);
  return executed;
}

Run run(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
        const RunOptions& options, const Operands* operands) {
  return execute(program, problem, tiling, hardware, options, operands).run;
}

State run_until(std::int64_t steps, const Program& program, const Problem& problem, const Tiling& tiling,
                const Hardware& hardware, const RunOptions& options, const Operands* operands) {
  Executed executed = prepared(program, problem, tiling, hardware, options);
  Machine machine(executed.run, options.record_values, steps);
  try {
    perform(program, machine, executed, operands, options.quantisation);
  } catch (const Machine::Stopped&) {  // as asked
  }
  return machine.state();
}

Bytes footprint_of(const Program& program, const Problem& problem, const Tiling& tiling, const Hardware& hardware,
                   Pass pass) {
  return run(program, problem, tiling, hardware, {.detail = Detail::layout, .pass = pass}).footprint();
}

namespace {

// In 8 bits the operands themselves are the truth, and what plain attention makes of them with one scale for each head
// is the yardstick: quantising is part of the algorithm, and its error part of the result's.
Truth eight_bit_truth(const Problem& p, const Operands& operands) {
  Problem plain = p;
  plain.element = Element::bf16;
  const auto one_scale = [](const std::vector<Matrix>& heads) {
    return dequantised(quantise(heads, heads.empty() ? 1 : heads.front().rows()));
  };
  const Operands stored{one_scale(operands.q), one_scale(operands.k), one_scale(operands.v), {}};
  Truth truth;
  for (Head head = 0; head < p.heads_total(); ++head) {
    const auto q = static_cast<std::size_t>(head), kv = static_cast<std::size_t>(p.kv_head_of(head));
    truth.reference.push_back(reference_attention(p, operands.q[q], operands.k[kv], operands.v[kv]));
    truth.plain.push_back(plain_attention(plain, stored.q[q], stored.k[kv], stored.v[kv]));
  }
  return truth;
}

}  // namespace

Truth truth_of(const Problem& p, const Operands& operands) {
  if (p.element == Element::e4m3) return eight_bit_truth(p, operands);
  const Operands stored{rounded(operands.q, p.element), rounded(operands.k, p.element), rounded(operands.v, p.element),
                        rounded(operands.d_o, p.element)};
  Truth truth;
  for (Head head = 0; head < p.heads_total(); ++head) {
    const Matrix& q = stored.q[static_cast<std::size_t>(head)];
    const auto kv = static_cast<std::size_t>(p.kv_head_of(head));
    truth.reference.push_back(reference_attention(p, q, stored.k[kv], stored.v[kv]));
    truth.plain.push_back(plain_attention(p, q, stored.k[kv], stored.v[kv]));
  }
  if (!stored.d_o.empty()) {
    truth.gradients = reference_gradients(p, stored);
    truth.plain_gradients = plain_gradients(p, stored);
  }
  return truth;
}

Accuracy accuracy(const Executed& executed, const Truth& truth) {
  const Problem& p = executed.run.problem;
  Accuracy result;
  if (executed.run.pass == Pass::backward) {
    const Gradients& ours = executed.gradients;
    const ReferenceGradients& reference = truth.gradients;
    const PlainGradients& plain = truth.plain_gradients;
    for (const auto& [tensor, exact, rounded_too] : {std::tuple{&ours.dQ, &reference.d_q, &plain.d_q},
                                                     {&ours.dK, &reference.d_k, &plain.d_k},
                                                     {&ours.dV, &reference.d_v, &plain.d_v}}) {
      Errors errors(*tensor, p.element);
      for (std::size_t head = 0; head < exact->size(); ++head) errors.add(head, (*exact)[head], (*rounded_too)[head]);
      result.tensors.push_back(errors.result());
    }
    return result;
  }
  Errors errors(executed.output.O, p.element);
  for (std::size_t head = 0; head < truth.reference.size(); ++head)
    errors.add(head, truth.reference[head].o, truth.plain[head]);
  result.tensors.push_back(errors.result());
  // In 8 bits the scores themselves are off by more than LSE's tolerance, and so is S that was rounded on its way through
  // HBM, whatever plain attention's LSE would be: it is not judged.
  const bool rounds_scores =
      p.element == Element::e4m3 || (executed.run.program == "naive" && p.element != Element::fp32);
  if (!rounds_scores) result.lse_max_error = lse_error(executed.output, truth);
  return result;
}

namespace {

Tiling tiling_of(const Measurement& m, const Program& program, Pass pass, const Hardware& hardware) {
  if (const auto kernel = kernel_tiling(m.kernel, program.name, pass, m.kernel_d, m.tiling.rows_q, m.tiling.rows_kv))
    return *kernel;
  Tiling tiling = default_tiling(program, m.problem, hardware, pass);
  tiling.rows_q = m.tiling.rows_q;
  tiling.rows_kv = m.tiling.rows_kv;
  tiling.fp32_temporaries = m.tiling.fp32_temporaries;
  tiling.kernel_d = m.kernel_d;
  return tiling;
}

}  // namespace

Run run_of(const Measurement& m, const Hardware& hardware, Detail detail) {
  const Program& program = program_named(m.program);
  const auto pass = pass_named(m.pass);
  if (!pass) throw InputError(fmt::format("pass {} is not known", m.pass));
  return run(program, m.problem, tiling_of(m, program, *pass, hardware), hardware, {.detail = detail, .pass = *pass});
}

}  // namespace fa

// Wrong arguments as sentences, before anything touches the GPU.
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "kernels/attention.h"

namespace fa::kernels {
namespace {

constexpr int alignment = 16;  // bytes: cp.async, TMA and vector loads move 16 at a time

struct Tensor {
  std::string_view name;
  const View& view;
  std::int64_t n, heads;
  Element element;
  bool written;
};

struct Axis {
  std::string_view name;
  std::int64_t extent, stride;
};
std::array<Axis, 3> axes_of(const Tensor& tensor, std::int64_t batch) {
  return {Axis{"batch", batch, tensor.view.batch_stride}, Axis{"row", tensor.n, tensor.view.row_stride},
          Axis{"head", tensor.heads, tensor.view.head_stride}};
}

std::optional<std::string> why_invalid(const Tensor& tensor, std::int64_t batch, int d) {
  const auto& [name, view, n, heads, element, written] = tensor;
  if (batch == 0 || n == 0) return std::nullopt;  // no numbers, so no address
  if (view.data == nullptr)
    return fmt::format("{} is null: give the device address of a [{}, {}, {}, {}] tensor of {}.", name, batch, n, heads,
                       d, name_of(element));
  if (view.d_stride != 1)
    return fmt::format(
        "{}'s last dimension has stride {}, and it must be contiguous (stride 1): pass a contiguous copy.", name,
        view.d_stride);
  if (const auto address = reinterpret_cast<std::uintptr_t>(view.data); address % alignment != 0)
    return fmt::format("{} starts {} bytes past a multiple of {}: pass a copy that starts at one.", name,
                       address % alignment, alignment);

  for (const Axis& axis : axes_of(tensor, batch)) {
    if (axis.extent == 1) continue;  // its stride is never used
    if (axis.stride * size_of(element) % alignment != 0)
      return fmt::format(
          "{}'s {} stride of {} numbers is {} bytes, and it must be a multiple of {}: pass a contiguous copy.", name,
          axis.name, axis.stride, axis.stride * size_of(element), alignment);
    if (written && axis.stride == 0)
      return fmt::format(
          "{} is written, and its {} stride is 0, so that rows would overwrite each other: pass a tensor of its own.",
          name, axis.name);
  }
  return std::nullopt;
}

std::optional<std::string> why_invalid_d(int d) {
  if (d > 0 && d % 8 == 0 && d <= 256) return std::nullopt;
  return fmt::format(
      "d = {} must be a multiple of 8 from 8 to 256: pad q, k and v with zeros, and keep the scale of the true d.", d);
}

std::optional<std::string> why_invalid(std::string_view name, const Scales& scales, Element element) {
  if (scales.data == nullptr) return std::nullopt;
  if (element != Element::e4m3)
    return fmt::format("{} belong to e4m3 tensors, and the problem is in {}: leave them null.", name, name_of(element));
  if (reinterpret_cast<std::uintptr_t>(scales.data) % sizeof(float) != 0)
    return fmt::format("{} must start at a multiple of 4 bytes.", name);
  if (scales.rows <= 0)
    return fmt::format("{}.rows = {} must be positive: so many rows share a scale.", name, scales.rows);
  return std::nullopt;
}

std::optional<std::string> why_invalid(const Problem& p) {
  if (p.batch < 0 || p.n_q < 0 || p.n_kv < 0)
    return fmt::format("batch = {}, n_q = {} and n_kv = {} must not be negative.", p.batch, p.n_q, p.n_kv);
  if (p.heads <= 0 || p.kv_heads <= 0 || p.heads % p.kv_heads != 0)
    return fmt::format(
        "heads = {} must be a positive multiple of kv_heads = {}: each key head serves equally many query heads.",
        p.heads, p.kv_heads);
  return why_invalid_d(p.d);
}

// A tensor map holds strides of 40 bits, without a sign.
std::optional<std::string> why_no_tensor_map(const Tensor& tensor, std::int64_t batch, const Kernel& kernel) {
  if (batch == 0 || tensor.n == 0) return std::nullopt;
  for (const Axis& axis : axes_of(tensor, batch))
    if (const std::int64_t bytes = axis.stride * size_of(tensor.element);
        axis.extent > 1 && (bytes < 0 || bytes >= std::int64_t{1} << 40))
      return fmt::format(
          "{}'s {} stride is {} bytes, and {} moves tiles by TMA, which takes strides from 0 to below 2^40: pass a "
          "contiguous copy, or take a kernel for an older GPU.",
          tensor.name, axis.name, bytes, kernel.name);
  return std::nullopt;
}

std::vector<Tensor> tensors_of(const Args& args, Pass pass) {
  const Problem& p = args.problem;
  const bool forward = pass == Pass::forward;
  const Element out = output_element(p.element);
  std::vector<Tensor> tensors{{"q", args.q, p.n_q, p.heads, p.element, false},
                              {"k", args.k, p.n_kv, p.kv_heads, p.element, false},
                              {"v", args.v, p.n_kv, p.kv_heads, p.element, false},
                              {"o", args.o, p.n_q, p.heads, out, forward}};
  if (!forward) {
    tensors.push_back({"d_out", args.d_out, p.n_q, p.heads, out, false});
    tensors.push_back({"dq", args.dq, p.n_q, p.heads, p.element, true});
    tensors.push_back({"dk", args.dk, p.n_kv, p.kv_heads, p.element, true});
    tensors.push_back({"dv", args.dv, p.n_kv, p.kv_heads, p.element, true});
  }
  return tensors;
}

}  // namespace

std::optional<std::string> why_invalid(const Args& args, const Kernel& kernel) {
  if (auto sentence = why_invalid(args, kernel.pass)) return sentence;
  if (!kernel.tensor_maps) return std::nullopt;
  for (const Tensor& tensor : tensors_of(args, kernel.pass))
    if (auto sentence = why_no_tensor_map(tensor, args.problem.batch, kernel)) return sentence;
  return std::nullopt;
}

std::optional<std::string> why_invalid(const Args& args, Pass pass) {
  const Problem& p = args.problem;
  if (auto sentence = why_invalid(p)) return sentence;
  if (!(args.scale > 0) || args.scale > 3e38f)  // NaN fails the first comparison
    return fmt::format("scale = {} must be a positive number; 1 / sqrt(d) = {} is usual.", args.scale, p.scale());

  for (const Tensor& tensor : tensors_of(args, pass))
    if (auto sentence = why_invalid(tensor, p.batch, p.d)) return sentence;
  for (const auto& [name, scales] :
       {std::pair{"q_scales", &args.q_scales}, {"k_scales", &args.k_scales}, {"v_scales", &args.v_scales}})
    if (auto sentence = why_invalid(name, *scales, p.element)) return sentence;

  if (p.batch == 0 || p.n_q == 0) return std::nullopt;
  if (args.lse == nullptr)
    return fmt::format("lse is null: give the device address of {} x {} x {} floats.", p.batch, p.heads, p.n_q);
  if (reinterpret_cast<std::uintptr_t>(args.lse) % sizeof(float) != 0)
    return std::string("lse must start at a multiple of 4 bytes.");
  return std::nullopt;
}

std::optional<std::string> why_invalid(const Cast& cast) {
  if (cast.element != Element::fp16 && cast.element != Element::bf16)
    return fmt::format("quantise casts fp16 and bf16, and the tensor is in {}.", name_of(cast.element));
  if (cast.batch < 0 || cast.n < 0 || cast.heads <= 0)
    return fmt::format("batch = {} and n = {} must not be negative, and heads = {} must be positive.", cast.batch,
                       cast.n, cast.heads);
  if (cast.rows <= 0) return fmt::format("rows = {} must be positive: so many rows share a scale.", cast.rows);
  if (auto sentence = why_invalid_d(cast.d)) return sentence;
  for (const Tensor& tensor : std::array{Tensor{"from", cast.from, cast.n, cast.heads, cast.element, false},
                                         Tensor{"to", cast.to, cast.n, cast.heads, Element::e4m3, true}})
    if (auto sentence = why_invalid(tensor, cast.batch, cast.d)) return sentence;
  if (cast.batch != 0 && cast.n != 0 &&
      (cast.scales == nullptr || reinterpret_cast<std::uintptr_t>(cast.scales) % sizeof(float) != 0))
    return fmt::format("scales must be the device address of {} x {} x {} floats.", cast.batch, cast.heads,
                       (std::int64_t{cast.n} + cast.rows - 1) / cast.rows);
  return std::nullopt;
}

}  // namespace fa::kernels

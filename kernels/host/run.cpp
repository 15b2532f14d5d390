// The one way in: check, answer empty problems, launch.
#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "kernels/attention.h"
#include "kernels/host/fill.h"

namespace fa::kernels {
namespace {

// Nothing to attend to: O = 0, LSE = -inf; whatever gradient has numbers is zero. No attention kernel is launched.
void answer_empty(const Args& args, Pass pass) {
  const Problem& p = args.problem;
  const int bytes = size_of(p.element);
  if (pass == Pass::forward) {
    fill_zero(args.o, p.batch, p.n_q, p.heads, p.d * size_of(output_element(p.element)),
              size_of(output_element(p.element)), args.stream);
    fill(args.lse, p.heads_total() * p.n_q, -std::numeric_limits<float>::infinity(), args.stream);
  } else {
    fill_zero(args.dq, p.batch, p.n_q, p.heads, p.d * bytes, bytes, args.stream);
    fill_zero(args.dk, p.batch, p.n_kv, p.kv_heads, p.d * bytes, bytes, args.stream);
    fill_zero(args.dv, p.batch, p.n_kv, p.kv_heads, p.d * bytes, bytes, args.stream);
  }
}

// The keys of one tile share a scale: else a kernel would have to scale every key by itself.
std::optional<std::string> why_not(const Kernel& kernel, std::string_view name, const Scales& scales, int n) {
  const int tile = kernel.tiling.rows_kv;
  if (scales.data == nullptr || scales.rows >= n || scales.rows % tile == 0) return std::nullopt;
  return fmt::format("{}.rows = {} must be a multiple of {}, the keys that {} loads at once, or at least n_kv = {}.",
                     name, scales.rows, tile, kernel.name, n);
}

}  // namespace

void run(const Kernel& kernel, const Args& args) {
  if (auto sentence = why_invalid(args, kernel)) throw std::invalid_argument(*sentence);
  if (auto sentence = why_not(kernel, args.problem)) throw std::invalid_argument(*sentence);
  const Problem& p = args.problem;
  for (const auto& [name, scales] : {std::pair{"k_scales", &args.k_scales}, {"v_scales", &args.v_scales}})
    if (auto sentence = why_not(kernel, name, *scales, p.n_kv)) throw std::invalid_argument(*sentence);
  if (p.batch == 0 || p.n_q == 0 || p.n_kv == 0) return answer_empty(args, kernel.pass);

  if (const std::size_t bytes = workspace_bytes(kernel, p);
      bytes != 0 && (args.workspace == nullptr || reinterpret_cast<std::uintptr_t>(args.workspace) % 256 != 0))
    throw std::invalid_argument(fmt::format(
        "workspace must be the device address of {} bytes, at a multiple of 256, for {}.", bytes, kernel.name));
  kernel.launch(args);
}

}  // namespace fa::kernels

// Which kernel takes a problem, and a sentence for each that does not.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/attention.h"

namespace fa::kernels {
namespace {

std::string list_of(std::span<const Element> elements) {
  std::string text;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    text += i == 0 ? "" : i + 1 == elements.size() ? " and " : ", ";
    text += name_of(elements[i]);
  }
  return text;
}

std::string version(int cc) { return fmt::format("{}.{}", cc / 10, cc % 10); }

// "naive (d 64)": the rows of one name differ by the head dimension that they were compiled for.
std::string title(const Kernel& kernel) { return fmt::format("{} (d {})", kernel.name, kernel.d); }

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

}  // namespace

std::size_t workspace_bytes(const Kernel& kernel, const Problem& problem) {
  return kernel.workspace_bytes == nullptr ? 0 : kernel.workspace_bytes(problem);
}

std::optional<std::string> why_not(const Kernel& kernel, const Problem& problem) {
  if (std::find(kernel.elements.begin(), kernel.elements.end(), problem.element) == kernel.elements.end())
    return fmt::format("{} takes {}, and the problem is in {}.", title(kernel), list_of(kernel.elements),
                       name_of(problem.element));
  if (problem.d > kernel.d)
    return fmt::format("{} was compiled for head dimensions up to {}, and the problem has d = {}.", title(kernel),
                       kernel.d, problem.d);
  if (problem.d <= 0 || problem.d % 8 != 0)
    return fmt::format(
        "{} copies rows in pieces of 8 numbers, and d = {} is no positive multiple of 8: pad q, k and v with zeros to "
        "d = {}.",
        title(kernel), problem.d, std::max(8, (problem.d + 7) / 8 * 8));
  if (problem.causal && !kernel.takes_causal)
    return fmt::format("{} has no causal mask, and the problem is causal.", title(kernel));
  if (!problem.causal && !kernel.takes_full)
    return fmt::format("{} is tiled for the causal mask, and the problem is not causal.", title(kernel));
  if (problem.kv_heads <= 0 || problem.heads % problem.kv_heads != 0)
    return fmt::format(
        "{} shares each key head among equally many query heads, and heads = {} is no multiple of kv_heads = {}.",
        title(kernel), problem.heads, problem.kv_heads);
  return std::nullopt;
}

std::optional<std::string> why_not(const Kernel& kernel, const Problem& problem, const Device& device) {
  if (device.compute_capability < kernel.min_cc)
    return fmt::format("{} needs compute capability {} or newer, and {} has {}.", title(kernel), version(kernel.min_cc),
                       device.name, version(device.compute_capability));
  if (device.compute_capability > kernel.max_cc)
    return fmt::format("{} uses instructions that end with compute capability {}, and {} has {}.", title(kernel),
                       version(kernel.max_cc), device.name, version(device.compute_capability));
  if (kernel.shared_memory > device.shared_memory_per_block)
    return fmt::format("{} asks for {} bytes of shared memory in a block, and {} gives at most {}.", title(kernel),
                       kernel.shared_memory, device.name, device.shared_memory_per_block);
  if (auto sentence = why_not(kernel, problem)) return sentence;
  if (const auto bytes = static_cast<double>(workspace_bytes(kernel, problem));
      bytes > 0.9 * static_cast<double>(device.memory_bytes))
    return fmt::format("{} needs {} of workspace for this problem, and {} has {} of memory.", title(kernel),
                       gigabytes(bytes), device.name, gigabytes(static_cast<double>(device.memory_bytes)));
  return std::nullopt;
}

Choice choose(const Problem& problem, Pass pass, const Device& device, std::span<const Kernel> from) {
  Choice choice;
  for (const Kernel& kernel : from) {
    if (kernel.pass != pass) continue;
    if (auto sentence = why_not(kernel, problem, device)) {
      choice.refused.push_back({&kernel, std::move(*sentence)});
    } else if (choice.kernel == nullptr) {
      choice.kernel = &kernel;
    } else {
      choice.refused.push_back(
          {&kernel,
           fmt::format("{} could run it too, but {} stands before it in the list, which has the best kernel first.",
                       title(kernel), title(*choice.kernel))});
    }
  }
  choice.sentence =
      choice.kernel != nullptr
          ? fmt::format("{} takes it: the first of the list, best first, that can.", title(*choice.kernel))
          : fmt::format("No {} kernel takes this problem on {}.", name_of(pass), device.name);
  return choice;
}

}  // namespace fa::kernels

#include "kernels/tools/options.h"

#include <algorithm>

namespace fa::kernels {
namespace {

template <class List, class Value>
bool lacks(const List& list, const Value& value) {
  return !list.empty() && std::find(list.begin(), list.end(), value) == list.end();
}

}  // namespace

std::vector<Kernel> Options::kernels_for(const Problem& problem, const Device& device, std::string& refusal) const {
  std::vector<Kernel> list;
  refusal = "no kernel has that --kernel and --pass: `fagpu explain` lists them";
  bool gpu_lacks = false;
  for (const Kernel& kernel : kernels()) {
    if (lacks(names, kernel.name) || (pass && *pass != kernel.pass)) continue;
    const auto same = [&](const Kernel& other) { return other.name == kernel.name && other.pass == kernel.pass; };
    if (std::any_of(list.begin(), list.end(), same)) continue;
    auto sentence = why_not(kernel, problem, device);
    if (!sentence) {
      list.push_back(kernel);
      continue;
    }
    const bool on_another_gpu =
        !why_not(kernel, problem);  // what this GPU lacks says more than what a kernel is not for
    if (on_another_gpu || !gpu_lacks) refusal = std::move(*sentence);
    gpu_lacks = gpu_lacks || on_another_gpu;
  }
  return list;
}

bool Options::wants(const Problem& p) const {
  return !lacks(d, p.d) && !lacks(elements, p.element) && (!causal || *causal == p.causal) && (!n_q || *n_q == p.n_q) &&
         (!n_kv || *n_kv == p.n_kv) && (!batch || *batch == p.batch) && (!heads || *heads == p.heads) &&
         (!kv_heads || *kv_heads == p.kv_heads);
}

Problem Options::problem(int default_n, int default_heads, int default_d, Element element) const {
  Problem p;
  p.batch = batch.value_or(1);
  p.heads = heads.value_or(default_heads);
  p.kv_heads = kv_heads.value_or(p.heads);
  p.n_q = n_q.value_or(n_kv.value_or(default_n));
  p.n_kv = n_kv.value_or(p.n_q);
  p.d = d.empty() ? default_d : d.front();
  p.causal = causal.value_or(false);
  p.element = elements.empty() ? element : elements.front();
  return p;
}

}  // namespace fa::kernels

#include "kernels/host/c_api.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/attention.h"

namespace {

using namespace fa;
using namespace fa::kernels;

thread_local std::string last_error;

// Runs `body`, and turns what it throws into a return code and a sentence.
template <class Body>
int guarded(Body body) {
  last_error.clear();
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  return 1;
}

const Kernel& kernel_at(int index) {
  const auto list = fa::kernels::kernels();
  if (index < 0 || index >= static_cast<int>(list.size()))
    throw std::out_of_range("kernel " + std::to_string(index) + " is not in the list: give 0 to " +
                            std::to_string(list.size() - 1));
  return list[static_cast<std::size_t>(index)];
}

Element element_of(int element) {
  if (element < FA_FP32 || element > FA_E4M3)
    throw std::invalid_argument("element must be 0 (fp32), 1 (fp16), 2 (bf16) or 3 (e4m3)");
  return static_cast<Element>(element);
}

Problem problem_of(const fa_problem& p) {
  return {.batch = p.batch,
          .heads = p.heads,
          .kv_heads = p.kv_heads,
          .n_q = p.n_q,
          .n_kv = p.n_kv,
          .d = p.d,
          .causal = p.causal != 0,
          .element = element_of(p.element)};
}

View view_of(const fa_view& v) { return {v.data, v.batch_stride, v.row_stride, v.head_stride, v.d_stride}; }

Scales scales_of(const fa_scales& s) {
  return {s.data, static_cast<int>(std::clamp<std::int64_t>(s.rows, 0, std::numeric_limits<int>::max()))};
}

}  // namespace

static_assert(static_cast<int>(Element::fp32) == FA_FP32 && static_cast<int>(Element::fp16) == FA_FP16 &&
              static_cast<int>(Element::bf16) == FA_BF16 && static_cast<int>(Element::e4m3) == FA_E4M3);

const char* fa_last_error() { return last_error.c_str(); }

int fa_args_bytes() { return static_cast<int>(sizeof(fa_args)); }

int fa_kernel_count() { return static_cast<int>(fa::kernels::kernels().size()); }

const char* fa_kernel_name(int kernel) {
  thread_local std::string name;  // a string_view need not end with a zero
  return guarded([&] { name = kernel_at(kernel).name; }) == 0 ? name.c_str() : nullptr;
}

int fa_kernel_pass(int kernel) {
  int pass = -1;
  guarded([&] { pass = kernel_at(kernel).pass == Pass::forward ? FA_FORWARD : FA_BACKWARD; });
  return pass;
}

int fa_kernel_d(int kernel) {
  int d = -1;
  guarded([&] { d = kernel_at(kernel).d; });
  return d;
}

int fa_choose(const fa_problem* problem, int pass, int* kernel) {
  return guarded([&] {
    const Choice choice =
        choose(problem_of(*problem), pass == FA_FORWARD ? Pass::forward : Pass::backward, current_device());
    if (choice.kernel == nullptr) {
      std::string text = choice.sentence;
      for (const Refusal& refusal : choice.refused) text += " " + refusal.sentence;
      throw std::runtime_error(text);
    }
    *kernel = static_cast<int>(choice.kernel - fa::kernels::kernels().data());
  });
}

int fa_why_not(int kernel, const fa_problem* problem) {
  return guarded([&] {
    if (auto sentence = why_not(kernel_at(kernel), problem_of(*problem), current_device()))
      throw std::invalid_argument(*sentence);
  });
}

int fa_workspace_bytes(int kernel, const fa_problem* problem, size_t* bytes) {
  return guarded([&] { *bytes = workspace_bytes(kernel_at(kernel), problem_of(*problem)); });
}

int fa_run(int kernel, const fa_args* a) {
  return guarded([&] {
    run(kernel_at(kernel), {.problem = problem_of(a->problem),
                            .scale = a->scale,
                            .q = view_of(a->q),
                            .k = view_of(a->k),
                            .v = view_of(a->v),
                            .o = view_of(a->o),
                            .lse = a->lse,
                            .d_out = view_of(a->d_out),
                            .dq = view_of(a->dq),
                            .dk = view_of(a->dk),
                            .dv = view_of(a->dv),
                            .workspace = a->workspace,
                            .stream = static_cast<Stream>(a->stream),
                            .q_scales = scales_of(a->q_scales),
                            .k_scales = scales_of(a->k_scales),
                            .v_scales = scales_of(a->v_scales)});
  });
}

int fa_quantise(const fa_cast* c) {
  return guarded([&] {
    quantise({.element = element_of(c->element),
              .batch = c->batch,
              .n = c->n,
              .heads = c->heads,
              .d = c->d,
              .from = view_of(c->from),
              .to = view_of(c->to),
              .scales = c->scales,
              .rows = c->rows,
              .rotate = c->rotate != 0,
              .stream = static_cast<Stream>(c->stream)});
  });
}

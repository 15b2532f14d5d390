#include "sim/cli/specification.h"

#include <fmt/format.h>

#include <algorithm>

namespace fa::cli {
namespace {

// Multiply-adds of one product below which values are computed unasked.
constexpr double small_problem = 1 << 27;

Problem problem_of(const Arguments& a, const Input* input) {
  Problem p;
  if (input) {
    for (const auto& [given, option] : {std::pair{a.n, "--n"},
                                        {a.n_q, "--n-q"},
                                        {a.n_kv, "--n-kv"},
                                        {a.d, "--d"},
                                        {a.batch, "--batch"},
                                        {a.heads, "--heads"},
                                        {a.kv_heads, "--kv-heads"}})
      if (given)
        throw InputError(
            fmt::format("{} cannot go with --input, which gives the sizes; leave one of them out.", option));
    p = input->problem;
  } else {
    if (a.head) throw InputError("--head needs --input, whose heads it chooses from; use --heads for random inputs.");
    p.n_q = a.n_q.value_or(a.n.value_or(p.n_q));
    p.n_kv = a.n_kv.value_or(a.n.value_or(p.n_kv));
    p.d = a.d.value_or(p.d);
    p.batch = a.batch.value_or(p.batch);
    p.heads = a.heads.value_or(p.heads);
    p.kv_heads = a.kv_heads.value_or(p.heads);
  }
  p.causal = a.causal.value_or(p.causal);
  const auto element = element_named(a.element);
  if (!element) throw InputError(fmt::format("--element {} is not known; choose fp32, fp16, bf16 or e4m3.", a.element));
  p.element = *element;
  if (auto why = why_invalid(p)) throw SpecError(*why);
  return p;
}

// The named tiling for this program, d and pass; none if the name belongs to other programs.
const NamedTiling* find_tiling(const std::string& name, const Program& program, int d, Pass pass) {
  bool known = false, of_program = false;
  for (const NamedTiling& named : named_tilings) {
    if (named.name != name) continue;
    known = true;
    if (named.program != "*" && named.program != program.name) continue;
    of_program = true;
    if (named.pass && *named.pass != pass) continue;
    if (named.d == 0 || named.d == d || named.tiling.kernel_d >= d) return &named;  // a kernel pads d up to its own
  }
  if (!known) {
    std::vector<std::string_view> names;
    for (const NamedTiling& named : named_tilings)
      if (std::find(names.begin(), names.end(), named.name) == names.end()) names.push_back(named.name);
    throw InputError(fmt::format("--tiling {} is not known; choose one of {}, or give --rows-q and --rows-kv.", name,
                                 fmt::join(names, ", ")));
  }
  if (of_program)
    throw InputError(
        fmt::format("--tiling {} has no {} tile for d = {}; give --rows-q and --rows-kv.", name, name_of(pass), d));
  return nullptr;
}

Chosen choose(const Arguments& a, const Program& program, const Problem& p, const Hardware& hardware, Pass pass,
              bool others_too) {
  Chosen chosen{&program, default_tiling(program, p, hardware, pass), "default"};
  if (!a.tiling.empty()) {
    if (const NamedTiling* named = find_tiling(a.tiling, program, p.d, pass)) {
      chosen.tiling = named->tiling;
      chosen.tiling_name = named->name;
    } else if (!others_too) {
      throw InputError(fmt::format("--tiling {} is not for {}; leave it out or choose another of `fasim list`.",
                                   a.tiling, program.name));
    }
  }
  if (a.rows_q || a.rows_kv) chosen.tiling_name = "";
  chosen.tiling.rows_q = a.rows_q.value_or(chosen.tiling.rows_q);
  chosen.tiling.rows_kv = a.rows_kv.value_or(chosen.tiling.rows_kv);
  if (auto why = why_invalid(p, chosen.tiling, hardware)) throw SpecError(*why);
  return chosen;
}

}  // namespace

Specification specify(const Arguments& a, bool all_programs) {
  Specification spec;
  const auto pass = pass_named(a.pass);
  if (!pass) throw InputError(fmt::format("--pass {} is not known; choose forward or backward.", a.pass));
  spec.pass = *pass;
  spec.hardware = hardware_named(a.hardware);
  spec.source = fmt::format("random, seed {}", a.seed);
  if (!a.input.empty()) {
    spec.input = read_input(a.input);
    spec.source = std::filesystem::path(a.input).filename().string();
    if (a.head) spec.input = head_of(*spec.input, *a.head);
    if (a.head && !spec.input->heads.empty()) spec.heads = spec.input->heads.front();
  }
  spec.problem = problem_of(a, spec.input ? &*spec.input : nullptr);

  std::vector<const Program*> wanted;
  for (const std::string& name : a.programs) wanted.push_back(&program_named(name));
  if (wanted.empty() && all_programs)
    for (const Program& program : programs)
      if (spec.pass == Pass::forward || program.backward) wanted.push_back(&program);
  if (wanted.empty()) wanted.push_back(&program_named("flash2"));
  if (!all_programs && wanted.size() > 1)
    throw InputError(
        fmt::format("--program takes one name here; `fasim compare` sets {} side by side.", wanted.size()));
  for (const Program* program : wanted)
    spec.programs.push_back(choose(a, *program, spec.problem, spec.hardware, spec.pass, wanted.size() > 1));
  return spec;
}

bool wants_values(const Arguments& a, const Problem& p) {
  const double products = static_cast<double>(p.heads_total()) * p.n_q * p.n_kv * p.d;
  return a.values.value_or(products <= small_problem);
}

Operands operands_of(const Specification& spec, std::uint64_t seed) {
  Operands operands = spec.input ? spec.input->operands : random_operands(spec.problem, seed);
  if (spec.pass == Pass::backward) operands.d_o = random_d_o(spec.problem, seed);
  return operands;
}

std::string describe(const Tiling& tiling) {
  return fmt::format("{} × {}{}{}{}", tiling.rows_q, tiling.rows_kv, tiling.fp32_temporaries ? ", fp32 O" : "",
                     tiling.o_every_pass ? ", O in every pass" : "",
                     tiling.kernel_d > 0 ? fmt::format(", d as {}", tiling.kernel_d) : "");
}

}  // namespace fa::cli

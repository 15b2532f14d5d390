// fagpu: checks, times, measures and explains the CUDA kernels. The command line, and nothing else.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "kernels/tools/options.h"

namespace {

using namespace fa;
using namespace fa::kernels;

// What the parser fills; the options proper have no notion of text.
struct Line {
  Options options;
  std::vector<std::string> elements;
  std::string pass;
  int n = 0;
  bool causal = false, full = false;

  Options parsed(const CLI::App& command) const {
    Options o = options;
    for (const std::string& name : elements) o.elements.push_back(*element_named(name));
    if (!pass.empty()) o.pass = pass == "forward" ? Pass::forward : Pass::backward;
    if (causal || full) o.causal = causal;
    if (o.fp8) o.elements = {Element::e4m3};
    if (command.count("--n") != 0) {
      if (!o.n_q) o.n_q = n;
      if (!o.n_kv) o.n_kv = n;
    }
    return o;
  }
};

void add_common(CLI::App& command, Line& line) {
  Options& o = line.options;
  const auto size = CLI::Range(1, 1 << 22);
  command.add_option("--kernel", o.names, "only kernels of these names");
  command.add_option("--pass", line.pass, "forward or backward; both if left out")
      ->check(CLI::IsMember({"forward", "backward"}));
  command.add_option("--d", o.d, "head dimension, a multiple of 8 up to 256")->check(CLI::Range(8, 256));
  command.add_option("--element", line.elements, "fp16, bf16 or e4m3")
      ->check(CLI::IsMember({"fp32", "fp16", "bf16", "e4m3"}));
  auto* const causal = command.add_flag("--causal", line.causal, "only with the causal mask");
  command.add_flag("--full", line.full, "only without it")->excludes(causal);
  command.add_option("--n", line.n, "sets --n-q and --n-kv")->check(size);
  command.add_option("--n-q", o.n_q, "queries")->check(size);
  command.add_option("--n-kv", o.n_kv, "keys")->check(size);
  command.add_option("--batch", o.batch)->check(size);
  command.add_option("--heads", o.heads, "query heads")->check(size);
  command.add_option("--kv-heads", o.kv_heads, "key heads; a divisor of --heads")->check(size);
  command.add_option("--seed", o.seed, "of the random inputs");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"fagpu: the CUDA attention kernels, checked, timed, measured and explained"};
  app.require_subcommand(0, 1);  // none is told below: the parser would blame a misspelt one with the same words
  Line line;

  CLI::App& check = *app.add_subcommand("check", "every kernel against attention in double; exit 1 on any failure");
  add_common(check, line);
  check.add_flag("--fp8", line.options.fp8, "in e4m3 instead of 16 bits, with the error table of the FA-3 paper");
  check.add_flag("--quick", line.options.quick, "a few small cases, for compute-sanitizer");

  CLI::App& long_ =
      *app.add_subcommand("long", "one head of 1,048,576 causal queries: some rows against double; memory");
  add_common(long_, line);

  CLI::App& bench = *app.add_subcommand("bench", "times and TFLOP/s");
  add_common(bench, line);
  bench.add_flag("--csv", line.options.csv, "comma-separated, for machines");
  bench.add_option("--repeats", line.options.repeats, "runs that the median is taken of")->check(CLI::Range(1, 10000));

  CLI::App& measure = *app.add_subcommand("measure", "hardware counters, into a file for `fasim measured`");
  add_common(measure, line);
  measure.add_option("--out", line.options.out, "file to write; assets/measurements/<gpu>_<date>.json if left out");

  CLI::App& explain = *app.add_subcommand("explain", "which kernel takes a problem, and why the others do not");
  add_common(explain, line);
  explain.add_option("--hardware", line.options.hardware,
                     "for this GPU (h200, a100, …) instead of the one that is there");
  explain.add_flag("--json", line.options.json, "for machines");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::fprintf(stderr, "fagpu: %s; `fagpu --help` lists what works\n", error.what());
    return 2;
  }

  if (app.get_subcommands().empty()) {
    std::fprintf(stderr, "fagpu: name a command: check, long, bench, measure or explain\n");
    return 2;
  }

  const std::map<CLI::App*, int (*)(const Options&)> commands{{&check, check_kernels},
                                                              {&long_, check_long},
                                                              {&bench, fa::kernels::bench},
                                                              {&measure, fa::kernels::measure},
                                                              {&explain, fa::kernels::explain}};
  try {
    CLI::App* const command = app.get_subcommands().front();
    return commands.at(command)(line.parsed(*command));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fagpu: %s\n", error.what());
    return 1;
  }
}

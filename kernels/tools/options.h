// What the command line of fagpu asked for. Unset fields mean "all of them" or the command's own list.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/attention.h"

namespace fa::kernels {

struct Options {
  std::vector<std::string> names;  // --kernel, may be repeated
  std::vector<int> d;              // --d
  std::vector<Element> elements;   // --element
  std::optional<Pass> pass;
  std::optional<bool> causal;
  std::optional<int> n_q, n_kv, batch, heads, kv_heads;
  bool quick = false;    // check: small sizes only, for compute-sanitizer
  bool fp8 = false;      // check: e4m3 instead of 16 bits, and the error table
  bool csv = false;      // bench
  bool json = false;     // explain
  int repeats = 20;      // bench
  std::string hardware;  // explain: a file of assets/hardware by name; empty: the GPU that is there
  std::string out;       // measure
  std::uint64_t seed = 1;

  bool wants(const Problem& problem) const;
  // The kernels that were asked for and take the problem: of each name and pass the first row, which pads d least.
  // If there is none, `refusal` says why.
  std::vector<Kernel> kernels_for(const Problem& problem, const Device& device, std::string& refusal) const;
  bool names_a_problem() const { return n_q || n_kv || batch || heads || kv_heads; }
  // The sizes that were given, and for the rest a default.
  Problem problem(int default_n, int default_heads, int default_d, Element element) const;
};

// Each returns the exit code, and throws std::exception with one line for what stops it.
int check_kernels(const Options& options);
int check_long(const Options& options);
int bench(const Options& options);
int measure(const Options& options);
int explain(const Options& options);

}  // namespace fa::kernels

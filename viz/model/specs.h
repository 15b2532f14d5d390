#pragma once
// What the user has chosen to look at, and what he may choose from. Plain values: the app makes Runs of them.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace fa::viz {

struct Specs {
  std::string input;  // a safetensors file; empty: random numbers from `seed`
  Head head = 0;      // of the file; random inputs run all their heads
  std::uint64_t seed = 1;
  std::string program = "flash2";
  std::string beside = "naive";  // empty: nothing beside it
  Problem problem;
  Tiling tiling{.rows_q = 8, .rows_kv = 8};
  std::string hardware = "h200";

  friend bool operator==(const Specs&, const Specs&) = default;
};

// Which control a change came from, so that an objection can stand beside it.
enum class Control { none, input, program, n, d, heads, causal, element, rows_q, rows_kv, hardware };

struct Trouble {
  Control control = Control::none;
  std::string sentence;  // in the words on screen
};

struct Choice {
  std::string value, label;
};

// What the controls offer for the present input.
struct Choices {
  std::vector<Choice> inputs, heads, programs, hardware;
  int n_most = 256;        // tokens of the file, or what can be stepped through by eye
  bool from_file = false;  // d and heads are then given
};

// `--rows-q` is Br on screen.
std::string for_screen(std::string sentence);

// Programs on recorded values keep every number, so what can be shown step by step is limited. A full sentence, or empty.
std::string why_too_large(const Problem& problem, const Tiling& tiling);

}  // namespace fa::viz

#pragma once
// The command line of fasim, as it was typed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fa::cli {

struct Arguments {
  std::string command;  // compare, run, trace, bounds, banks, measured, list

  std::optional<int> n, n_q, n_kv, d, batch, heads, kv_heads, rows_q, rows_kv;
  std::optional<bool> causal;
  std::string element = "bf16";
  std::string pass = "forward";
  std::vector<std::string> programs;
  std::string tiling;
  std::string hardware = "h200";
  std::string input;        // a safetensors file
  std::optional<int> head;  // one head of it
  std::uint64_t seed = 1;
  std::optional<bool> values;  // do the arithmetic, whatever the size; or never
  bool json = false;
  bool timeline = false;          // run: model the time, and show the lanes
  bool sram = false;              // run: what moves between SRAM and registers
  std::string perfetto;           // trace: write one SM's timeline to this file
  std::int64_t blocks = 4;        // trace: how many blocks of it
  std::string out;                // trace: the file to write
  std::int64_t first = 0;         // trace: the first step shown
  std::int64_t count = 200;       // trace: how many
  bool paper = false;             // bounds: the FA-1 paper's Figure 2
  std::optional<int> rows, pad;   // banks: rows of the tile, bytes between them
  std::string swizzle, access;    // banks
  std::string file;               // measured: the file of counters
  std::string measured_hardware;  // measured: a GPU instead of the file's own
};

struct Parsed {
  std::optional<Arguments> arguments;
  int exit_code = 0;  // if there are none: help was shown (0), a value is bad (1) or the usage is (2)
};

// Prints help or one line on what is wrong, if need be.
Parsed parse(int argc, char** argv);

}  // namespace fa::cli

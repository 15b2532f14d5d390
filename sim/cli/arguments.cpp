#include "sim/cli/arguments.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace fa::cli {
namespace {

// A flag that stays unset unless it is given (CLI11 sets a plain optional<bool> to false).
CLI::Option* add_choice(CLI::App& app, const std::string& names, std::optional<bool>& choice, const std::string& text) {
  return app.add_flag_function(
      names, [&choice](std::int64_t count) { choice = count > 0; }, text);
}

void add_problem(CLI::App& app, Arguments& a) {
  const std::string group = "Problem";
  app.add_option("--n", a.n, "tokens: sets n_q and n_kv (1024)")->group(group);
  app.add_option("--n-q", a.n_q, "rows of Q")->group(group);
  app.add_option("--n-kv", a.n_kv, "rows of K and V")->group(group);
  app.add_option("--d", a.d, "head dimension (64)")->group(group);
  app.add_option("--batch", a.batch, "sequences (1)")->group(group);
  app.add_option("--heads", a.heads, "query heads (1)")->group(group);
  app.add_option("--kv-heads", a.kv_heads, "key and value heads (as many as --heads)")->group(group);
  add_choice(app, "--causal,!--no-causal", a.causal, "hide the keys that come later, aligned bottom-right")
      ->group(group);
  app.add_option("--element", a.element, "fp32, fp16, bf16 or e4m3 (bf16)")->group(group);
  app.add_option("--input", a.input, "a safetensors file with q, k and v; gives the sizes and the values")
      ->group(group);
  app.add_option("--head", a.head, "take one query head of --input")->group(group);
  app.add_option("--seed", a.seed, "of random inputs (1)")->group(group);
  app.add_option("--hardware", a.hardware, "a GPU of `fasim list`, or a .json file (h200)")->group(group);
}

void add_tiling(CLI::App& app, Arguments& a) {
  const std::string group = "Tiling";
  app.add_option("--tiling", a.tiling, "a named tiling of `fasim list`")->group(group);
  app.add_option("--rows-q", a.rows_q, "rows of a Q tile, Br")->group(group);
  app.add_option("--rows-kv", a.rows_kv, "rows of a K or V tile, Bc")->group(group);
}

void add_values(CLI::App& app, Arguments& a) {
  add_choice(app, "--values,!--no-values", a.values, "do the arithmetic and give the error, at any size; or never");
}

}  // namespace

Parsed parse(int argc, char** argv) {
  Arguments a;
  CLI::App app("Counts what attention asks of a GPU's memory, by running it on a simulated one.", "fasim");
  app.require_subcommand(1);
  app.set_help_flag("--help,-h", "show this help");

  CLI::App& compare = *app.add_subcommand("compare", "programs side by side: bytes, SRAM, footprint, flops, error");
  CLI::App& run = *app.add_subcommand("run", "one program in detail: its launches, buffers and tensors");
  CLI::App& trace = *app.add_subcommand("trace", "one program step by step");
  CLI::App& bounds = *app.add_subcommand("bounds", "closed forms and the papers' bounds, at any size");
  CLI::App& banks = *app.add_subcommand("banks", "what a tile's layout in shared memory costs: bank conflicts");
  CLI::App& measured = *app.add_subcommand("measured", "hardware counters of real kernels beside the simulation");
  CLI::App& list = *app.add_subcommand("list", "what there is: programs, tilings, GPUs, inputs");

  for (CLI::App* command : {&compare, &run, &trace, &bounds}) {
    add_problem(*command, a);
    add_tiling(*command, a);
    command->add_option("--pass", a.pass, "forward or backward (forward)");
    command
        ->add_option("--program", a.programs,
                     command == &compare || command == &bounds ? "which programs, by name (all)"
                                                               : "which program, by name (flash2)")
        ->delimiter(',')
        ->expected(1, -1)
        ->take_all();
  }
  bounds.add_flag("--paper", a.paper, "the HBM traffic of the FA-1 paper's Figure 2, with all that it assumes");
  for (CLI::App* command : {&compare, &run}) add_values(*command, a);
  add_choice(trace, "--values", a.values, "record the values of every tile too");
  trace.add_option("--out", a.out, "write the whole trace to this file, as JSON");
  trace.add_option("--perfetto", a.perfetto, "write the modelled timeline of one SM to this file, for Perfetto");
  trace.add_option("--blocks", a.blocks, "how many of its blocks (4)");
  run.add_flag("--timeline", a.timeline, "model the time: cycles, and what each lane of an SM does and waits for");
  run.add_flag("--sram", a.sram, "count what moves between SRAM, registers and tensor cores, and bank conflicts");
  trace.add_option("--first", a.first, "first step shown (0)");
  trace.add_option("--count", a.count, "how many steps to show (200)");
  banks.add_option("--d", a.d, "numbers in a row of the tile (128)");
  banks.add_option("--rows", a.rows, "rows of the tile (64)");
  banks.add_option("--element", a.element, "fp32, fp16, bf16 or e4m3 (bf16)");
  banks.add_option("--swizzle", a.swizzle, "none, 32, 64 or 128 bytes (compares)");
  banks.add_option("--pad", a.pad, "bytes between rows, instead of a swizzle");
  banks.add_option("--access", a.access, "ldmatrix, ldmatrix-trans, cp-async, store-4, store-8 or column-4 (all)");
  measured.add_option("FILE", a.file, "what `fagpu measure` wrote; see assets/measurements")->required();
  measured.add_option("--hardware", a.measured_hardware, "a GPU of `fasim list`, or a .json file (the one measured)");
  for (CLI::App* command : {&compare, &run, &trace, &bounds, &banks, &measured, &list})
    command->add_flag("--json", a.json, "JSON for machines instead of tables for people");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ConversionError& error) {  // "--n x": a known option with a value that is none
    const std::string text = error.what();       // "Could not convert: --n = x"
    const std::size_t colon = text.find(": ");
    std::fprintf(stderr, "fasim: %s is not a whole number that fits\n",
                 text.substr(colon + (colon == text.npos ? 1 : 2)).c_str());
    return {std::nullopt, 1};
  } catch (const CLI::Success& help) {
    app.exit(help);
    return {std::nullopt, 0};
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "fasim: %s; see fasim --help\n", error.what());
    return {std::nullopt, 2};
  }
  a.command = app.get_subcommands().front()->get_name();
  return {a, 0};
}

}  // namespace fa::cli

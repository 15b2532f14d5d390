#include "viz/app/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "viz/app/scene_file.h"

namespace fa::viz {
namespace {

struct Arguments {
  std::optional<std::string> input, program, beside, element, tiling, hardware, theme;
  std::optional<int> n, n_q, n_kv, d, heads, kv_heads, rows_q, rows_kv, row, head;
  std::optional<bool> causal;
  std::optional<std::int64_t> seed, step;
  std::string size = "1600x900", png, scene, save_scene;
  double scale = 1;
};

void declare(CLI::App& app, Arguments& a) {
  app.set_help_flag("--help,-h", "show this help");
  app.add_option("--input", a.input, "a safetensors file with q, k and v, or a bundled one by name (smollm2)");
  app.add_option("--head", a.head, "which query head of the file (0)");
  app.add_option("--program", a.program, "naive, eager, eager_alpha, flash1 or flash2 (flash2)");
  app.add_option("--beside", a.beside, "the program beside it, or none (naive)");
  app.add_option("--n", a.n, "tokens; of a file, the first so many");
  app.add_option("--n-q", a.n_q, "rows of Q");
  app.add_option("--n-kv", a.n_kv, "rows of K and V");
  app.add_option("--d", a.d, "head dimension, of random inputs (64)");
  app.add_option("--heads", a.heads, "query heads, of random inputs (1)");
  app.add_option("--kv-heads", a.kv_heads, "key and value heads (as many as --heads)");
  app.add_flag_function(
      "--causal,!--no-causal", [&a](std::int64_t count) { a.causal = count > 0; }, "hide the keys that come later");
  app.add_option("--element", a.element, "fp32, fp16 or bf16 (bf16)");
  app.add_option("--seed", a.seed, "of random inputs (1)");
  app.add_option("--tiling", a.tiling, "a named tiling, or default (lesson: 8 × 8)");
  app.add_option("--rows-q", a.rows_q, "rows of a Q tile, Br");
  app.add_option("--rows-kv", a.rows_kv, "rows of a K or V tile, Bc");
  app.add_option("--hardware", a.hardware, "a GPU, or a .json file (h200)");
  app.add_option("--step", a.step, "events done (0; with --png the step that shows most)");
  app.add_option("--row", a.row, "the row of the softmax panel (it follows the block)");
  app.add_option("--theme", a.theme, "dark or light (dark)");
  app.add_option("--size", a.size, "of the window or picture (1600x900)");
  app.add_option("--scale", a.scale, "pixels to a logical pixel, for dense screens (1)");
  app.add_option("--png", a.png, "write a picture to this file and open no window; needs no display");
  app.add_option("--scene", a.scene, "start from a scene.json; options given besides win over it");
  app.add_option("--save-scene", a.save_scene, "write what is shown to this file, as a scene");
}

void take_input(const Arguments& a, Start& start) {
  Specs& specs = start.specs;
  const bool sizes = a.n || a.n_q || a.n_kv || a.d || a.heads || a.kv_heads;
  if (a.input) {
    specs.input = a.input->empty() ? throw InputError("--input needs a file.") : find_input(*a.input);
    specs.head = a.head.value_or(0);
    specs.problem = head_of(read_input(specs.input), specs.head).problem;
  } else if (a.seed || (sizes && a.scene.empty())) {
    if (a.head) throw InputError("--head needs --input, whose heads it chooses from; use --heads for random inputs.");
    specs.input.clear();
    if (a.scene.empty()) specs.problem = Problem{.n_q = 48, .n_kv = 48, .d = 64};
  } else if (a.head) {
    if (specs.input.empty()) throw InputError("--head needs --input, whose heads it chooses from.");
    const Problem all = specs.problem;
    specs.head = *a.head;
    specs.problem = head_of(read_input(specs.input), specs.head).problem;
    specs.problem.causal = all.causal;
  }
  specs.seed = static_cast<std::uint64_t>(a.seed.value_or(static_cast<std::int64_t>(specs.seed)));
  if (!specs.input.empty()) {
    for (const auto& [given, option] : {std::pair{a.n_q, "--n-q"},
                                        {a.n_kv, "--n-kv"},
                                        {a.d, "--d"},
                                        {a.heads, "--heads"},
                                        {a.kv_heads, "--kv-heads"}})
      if (given)
        throw InputError(
            fmt::format("{} cannot go with an input file, which gives the sizes; leave one of them out.", option));
    if (a.n && (*a.n < 1 || *a.n > specs.problem.n_kv || specs.problem.n_q != specs.problem.n_kv))
      throw InputError(
          fmt::format("--n must be between 1 and {}, the tokens of the file, not {}.", specs.problem.n_kv, *a.n));
  }
  Problem& p = specs.problem;
  p.n_q = a.n_q.value_or(a.n.value_or(p.n_q));
  p.n_kv = a.n_kv.value_or(a.n.value_or(p.n_kv));
  p.d = a.d.value_or(p.d);
  p.heads = a.heads.value_or(p.heads);
  p.kv_heads = a.kv_heads.value_or(a.heads ? p.heads : p.kv_heads);
  p.causal = a.causal.value_or(p.causal);
  if (a.element) {
    const auto element = element_named(*a.element);
    if (!element) throw InputError(fmt::format("--element {} is not known; choose fp32, fp16 or bf16.", *a.element));
    p.element = *element;
  }
}

void take_tiling(const Arguments& a, Specs& specs) {
  if (a.tiling) {
    const Program& program = program_named(specs.program);
    std::string names = "default";
    bool found = *a.tiling == "default";
    if (found) specs.tiling = default_tiling(program, specs.problem, hardware_named(specs.hardware));
    for (const NamedTiling& named : named_tilings) {
      if ((named.program != "*" && named.program != program.name) || (named.d != 0 && named.d != specs.problem.d))
        continue;
      names += ", " + std::string(named.name);
      if (named.name != *a.tiling) continue;
      specs.tiling = named.tiling;
      found = true;
    }
    if (!found)
      throw InputError(fmt::format("--tiling {} is not one of {} (for {}, d = {}); or give --rows-q and --rows-kv.",
                                   *a.tiling, names, specs.program, specs.problem.d));
  }
  specs.tiling.rows_q = a.rows_q.value_or(specs.tiling.rows_q);
  specs.tiling.rows_kv = a.rows_kv.value_or(specs.tiling.rows_kv);
}

void take_size(const Arguments& a, Options& options) {
  int used = 0;
  if (std::sscanf(a.size.c_str(), "%dx%d%n", &options.width, &options.height, &used) != 2 ||
      used != static_cast<int>(a.size.size()))
    throw InputError(fmt::format("--size {} is not a size; write it as 1600x900.", a.size));
  if (!(a.scale >= 0.5 && a.scale <= 4))
    throw InputError(fmt::format("--scale must be between 0.5 and 4, not {}.", a.scale));
  const int least_w = static_cast<int>(1024 * a.scale), least_h = static_cast<int>(700 * a.scale);
  if (options.width < least_w || options.height < least_h || options.width > 8192 || options.height > 8192)
    throw InputError(fmt::format("--size must be between {}x{} and 8192x8192, not {}.", least_w, least_h, a.size));
}

Options resolved(const Arguments& a) {
  Options options;
  options.start = a.scene.empty() ? default_start() : read_scene(a.scene);
  Start& start = options.start;
  take_input(a, start);
  Specs& specs = start.specs;
  if (a.program) specs.program = program_named(*a.program).name;
  if (a.beside) {
    const bool known = std::any_of(programs.begin(), programs.end(),
                                   [&](const Program& program) { return program.name == *a.beside; });
    if (!known && *a.beside != "none")
      throw InputError(
          fmt::format("--beside {} is not known; give a program that --program takes, or none.", *a.beside));
    specs.beside = known ? *a.beside : std::string();
  }
  if (a.hardware) specs.hardware = *a.hardware;
  take_tiling(a, specs);
  if (a.step && *a.step < 0) throw InputError(fmt::format("--step must be 0 or more, not {}.", *a.step));
  if (a.step) start.step = *a.step;
  if (a.row && (*a.row < 0 || *a.row >= specs.problem.n_q))
    throw InputError(fmt::format("--row must be between 0 and {}, not {}.", specs.problem.n_q - 1, *a.row));
  if (a.row) start.row = *a.row;
  if (a.theme && *a.theme != "dark" && *a.theme != "light")
    throw InputError(fmt::format("--theme {} is not known; choose dark or light.", *a.theme));
  if (a.theme) start.theme = *a.theme == "dark" ? ThemeName::dark : ThemeName::light;
  take_size(a, options);
  start.scale = a.scale;
  options.png = a.png;
  options.save_scene = a.save_scene;
  return options;
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Shows what attention moves, tile by tile, on a simulated GPU.", "flashscope");
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ConversionError& error) {
    const std::string text = error.what();  // "Could not convert: --n = x"
    const std::size_t colon = text.find(": ");
    throw InputError(
        fmt::format("{} is not a number that fits.", text.substr(colon == std::string::npos ? 0 : colon + 2)));
  } catch (const CLI::Success& help) {
    app.exit(help);
    return {std::nullopt, 0};
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "flashscope: {}; see flashscope --help\n", error.what());
    return {std::nullopt, 2};
  }
  return {resolved(arguments), 0};
}

}  // namespace fa::viz

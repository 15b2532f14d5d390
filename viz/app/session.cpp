#include "viz/app/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace fa::viz {
namespace {

namespace files = std::filesystem;

constexpr std::size_t most_kept = 8;

std::vector<files::path> bundled() {
  std::vector<files::path> result;
  std::error_code ignored;
  for (const files::directory_entry& entry : files::directory_iterator(assets_folder() / "inputs", ignored))
    if (entry.path().extension() == ".safetensors") result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Matrix> first_rows(const std::vector<Matrix>& heads, int rows) {
  std::vector<Matrix> result;
  for (const Matrix& head : heads) {
    Matrix shorter(rows, head.cols());
    const auto count = static_cast<std::ptrdiff_t>(rows) * head.cols();
    std::copy_n(head.values().begin(), count, shorter.values().begin());
    result.push_back(std::move(shorter));
  }
  return result;
}

}  // namespace

std::string find_input(const std::string& name, const std::string& beside_folder) {
  std::error_code ignored;
  if (!beside_folder.empty() && files::is_regular_file(files::path(beside_folder) / name, ignored))
    return (files::path(beside_folder) / name).string();
  if (files::is_regular_file(name, ignored)) return name;
  std::string names;
  for (const files::path& path : bundled()) {
    if (path.stem() == name || path.filename() == name) return path.string();
    names += (names.empty() ? "" : ", ") + path.stem().string();
  }
  throw InputError(fmt::format("--input {}: there is no such file; bundled are {}.", name, names));
}

const Input& Session::input_of(const std::string& path) {
  if (path != input_path_) {
    input_ = read_input(path);
    input_path_ = path;
  }
  return input_;
}

Specs Session::fitted(Specs specs) {
  if (specs.input.empty()) return specs;
  const Input& file = input_of(specs.input);
  const Input one = head_of(file, specs.head);
  const Problem wanted = specs.problem;
  specs.problem = one.problem;
  specs.problem.causal = wanted.causal;
  specs.problem.element = wanted.element;
  if (one.problem.n_q == one.problem.n_kv)
    specs.problem.n_q = specs.problem.n_kv = std::min(wanted.n_kv, one.problem.n_kv);
  return specs;
}

Session::Session(Specs specs) {
  show(std::move(specs));
  wanted_ = specs_;
}

void Session::want(const Specs& specs, Control control) {
  wanted_ = specs;
  try {
    if (specs.input != specs_.input && !specs.input.empty()) {
      // Another file brings its own length and mask.
      const Input one = head_of(input_of(specs.input), specs.head);
      wanted_.problem.n_q = one.problem.n_q;
      wanted_.problem.n_kv = one.problem.n_kv;
      wanted_.problem.causal = one.problem.causal;
    }
    wanted_ = fitted(wanted_);
    show(wanted_);
    trouble_.reset();
  } catch (const std::runtime_error& error) {
    trouble_ = Trouble{control, for_screen(error.what())};
  }
}

std::shared_ptr<const Shown> Session::shown(const Specs& specs, const std::string& program, const Operands& operands,
                                            const std::vector<std::string>& tokens) {
  Specs key = specs;
  key.program = program;
  key.beside.clear();
  for (const auto& [kept, result] : kept_)
    if (kept == key) return result;
  auto result = std::make_shared<Shown>();
  result->run = run(program_named(program), specs.problem, specs.tiling, hardware_named(specs.hardware),
                    {.detail = Detail::values, .record_values = true}, &operands);
  result->run.tokens = tokens;
  result->outline = outline(result->run);
  result->dram = dram_traffic(result->run);
  kept_.emplace_back(key, result);
  if (kept_.size() > most_kept) kept_.erase(kept_.begin());
  return result;
}

void Session::show(Specs specs) {
  specs = fitted(std::move(specs));
  const Hardware hardware = hardware_named(specs.hardware);
  if (auto why = why_invalid(specs.problem, specs.tiling, hardware)) throw SpecError(*why);
  if (const std::string why = why_too_large(specs.problem, specs.tiling); !why.empty()) throw SpecError(why);

  Operands operands;
  std::vector<std::string> tokens;
  std::optional<int> start_row;
  std::string head_name;
  if (specs.input.empty()) {
    operands = random_operands(specs.problem, specs.seed);
  } else {
    const Input& file = input_of(specs.input);
    const Input one = head_of(file, specs.head);
    operands = {first_rows(one.operands.q, specs.problem.n_q),
                first_rows(one.operands.k, specs.problem.n_kv),
                first_rows(one.operands.v, specs.problem.n_kv),
                {}};
    tokens.assign(one.tokens.begin(),
                  one.tokens.begin() +
                      std::min<std::ptrdiff_t>(specs.problem.n_kv, static_cast<std::ptrdiff_t>(one.tokens.size())));
    start_row = one.start_row && *one.start_row < specs.problem.n_q ? one.start_row : std::nullopt;
    if (static_cast<std::size_t>(specs.head) < file.heads.size())
      head_name = file.heads[static_cast<std::size_t>(specs.head)];
  }
  auto main = shown(specs, specs.program, operands, tokens);
  std::shared_ptr<const Shown> beside;
  if (!specs.beside.empty()) beside = shown(specs, specs.beside, operands, tokens);

  specs_ = std::move(specs);
  main_ = std::move(main);
  beside_ = std::move(beside);
  start_row_ = start_row;
  head_name_ = std::move(head_name);
}

std::string Session::input_name() const {
  return specs_.input.empty() ? "random numbers" : files::path(specs_.input).stem().string();
}

Choices Session::choices() const {
  Choices result;
  for (const files::path& path : bundled()) result.inputs.push_back({path.string(), path.stem().string()});
  if (!specs_.input.empty() && std::none_of(result.inputs.begin(), result.inputs.end(),
                                            [&](const Choice& choice) { return choice.value == specs_.input; }))
    result.inputs.push_back({specs_.input, files::path(specs_.input).filename().string()});
  result.inputs.push_back({"", "random numbers"});
  for (const Program& program : programs)
    result.programs.push_back({std::string(program.name), std::string(program.title)});
  for (const std::string& name : hardware_names()) result.hardware.push_back({name, hardware_named(name).name});
  if (!specs_.input.empty() && specs_.input == input_path_) {
    const Input& file = input_;
    result.from_file = true;
    result.n_most = file.problem.n_kv;
    for (Head head = 0; head < file.problem.heads_total(); ++head) {
      const auto index = static_cast<std::size_t>(head);
      result.heads.push_back({std::to_string(head),
                              fmt::format("{}{}", head, index < file.heads.size() ? ":  " + file.heads[index] : "")});
    }
  }
  return result;
}

}  // namespace fa::viz

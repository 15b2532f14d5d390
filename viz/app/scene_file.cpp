#include "viz/app/scene_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace fa::viz {
namespace {

using Json = nlohmann::ordered_json;

// Reads fields of one object; remembers which, so that a misspelt one is not silently ignored.
class Fields {
 public:
  Fields(const Json& object, std::string_view source, std::string where)
      : object_(object), source_(source), where_(std::move(where)) {
    if (!object.is_object())
      fail(fmt::format("{} must be an object", where_.empty() ? "a scene" : where_.substr(0, where_.size() - 1)));
  }

  void get(const char* name, int& value, std::int64_t least = INT32_MIN) {
    if (const Json* field = find(name)) value = static_cast<int>(integer(*field, name, least, INT32_MAX));
  }
  void get(const char* name, std::int64_t& value, std::int64_t least) {
    if (const Json* field = find(name)) value = integer(*field, name, least, INT64_MAX);
  }
  void get(const char* name, bool& value) {
    const Json* field = find(name);
    if (!field) return;
    if (!field->is_boolean()) fail(fmt::format("{}{} must be true or false", where_, name));
    value = field->get<bool>();
  }
  void get(const char* name, std::string& value) {
    const Json* field = find(name);
    if (!field) return;
    if (!field->is_string()) fail(fmt::format("{}{} must be a text", where_, name));
    value = field->get<std::string>();
  }
  const Json* find(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void finish() const {
    for (const auto& entry : object_.items())
      if (known_.count(entry.key()) == 0)
        fail(fmt::format("{}{} is not a field of a scene; known are {}", where_, entry.key(), fmt::join(known_, ", ")));
  }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}: {}.", source_, what)); }

 private:
  std::int64_t integer(const Json& field, const char* name, std::int64_t least, std::int64_t most) const {
    const bool fits =
        field.is_number_integer() &&
        (!field.is_number_unsigned() || field.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    if (!fits || field.get<std::int64_t>() < least || field.get<std::int64_t>() > most)
      fail(fmt::format("{}{} must be a whole number{}", where_, name,
                       least == 0   ? " from 0"
                       : least == 1 ? " from 1"
                                    : ""));
    return field.get<std::int64_t>();
  }

  const Json& object_;
  std::string_view source_;
  std::string where_;  // "problem."
  std::set<std::string> known_;
};

void read_problem(const Json& object, std::string_view source, Specs& specs) {
  Fields fields(object, source, "problem.");
  Problem& p = specs.problem;
  int n = 0;
  fields.get("n", n, 1);
  if (n > 0) p.n_q = p.n_kv = n;
  fields.get("n_q", p.n_q, 1);
  fields.get("n_kv", p.n_kv, 1);
  fields.get("d", p.d, 1);
  fields.get("heads", p.heads, 1);
  p.kv_heads = p.heads;
  fields.get("kv_heads", p.kv_heads, 1);
  fields.get("causal", p.causal);
  std::string element(name_of(p.element));
  fields.get("element", element);
  const auto found = element_named(element);
  if (!found) fields.fail(fmt::format("problem.element {} is not known; choose fp32, fp16 or bf16", element));
  p.element = *found;
  fields.finish();
}

// The default problem of an input: all of it.
void take_problem(Specs& specs) {
  if (specs.input.empty()) {
    specs.problem = Problem{.n_q = 48, .n_kv = 48, .d = 64, .causal = false};
    return;
  }
  specs.problem = head_of(read_input(specs.input), specs.head).problem;
}

}  // namespace

Start default_start() {
  Start start;
  start.specs.input = bundled_input().string();
  take_problem(start.specs);
  return start;
}

Start scene_from_json(std::string_view text, std::string_view source, const std::string& folder) {
  Json root;
  try {
    root = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw InputError(fmt::format("{}: is not JSON (byte {}).", source, error.byte));
  } catch (const Json::out_of_range&) {
    throw InputError(fmt::format("{}: has a number that is too large.", source));
  }
  Fields fields(root, source, "");
  int version = 1;
  fields.get("version", version, 1);
  if (version != 1) fields.fail(fmt::format("version {} is not known; this program reads 1", version));

  Start start;
  Specs& specs = start.specs;
  std::string input = bundled_input().stem().string();
  fields.get("input", input);
  specs.input = input.empty() ? std::string() : find_input(input, folder);
  std::int64_t head = 0, seed = 1;
  fields.get("head", head, 0);
  fields.get("seed", seed, 0);
  specs.head = head;
  specs.seed = static_cast<std::uint64_t>(seed);
  take_problem(specs);
  if (const Json* problem = fields.find("problem")) read_problem(*problem, source, specs);
  if (const Json* tiling = fields.find("tiling")) {
    Fields tiles(*tiling, source, "tiling.");
    tiles.get("rows_q", specs.tiling.rows_q, 1);
    tiles.get("rows_kv", specs.tiling.rows_kv, 1);
    tiles.get("fp32_temporaries", specs.tiling.fp32_temporaries);
    tiles.finish();
  }
  fields.get("program", specs.program);
  program_named(specs.program);
  fields.get("beside", specs.beside);
  if (specs.beside == "none") specs.beside.clear();
  if (!specs.beside.empty()) program_named(specs.beside);
  fields.get("hardware", specs.hardware);
  if (fields.find("step")) {
    std::int64_t step = 0;
    fields.get("step", step, 0);
    start.step = step;
  }
  if (fields.find("row")) {
    int row = 0;
    fields.get("row", row, 0);
    start.row = row;
  }
  std::string theme = "dark";
  fields.get("theme", theme);
  if (theme != "dark" && theme != "light")
    fields.fail(fmt::format("theme {} is not known; choose dark or light", theme));
  start.theme = theme == "dark" ? ThemeName::dark : ThemeName::light;
  fields.get("whole_run_n", start.whole_run_n, 256);
  fields.get("notes", start.notes);
  fields.finish();
  return start;
}

std::string to_json(const Start& start) {
  const Specs& specs = start.specs;
  const Problem& p = specs.problem;
  Json root;
  root["version"] = 1;
  // A bundled input goes by its name, so that the scene works on another machine too.
  const std::filesystem::path input = specs.input;
  root["input"] =
      !specs.input.empty() && input.parent_path() == assets_folder() / "inputs" ? input.stem().string() : specs.input;
  if (specs.input.empty())
    root["seed"] = specs.seed;
  else
    root["head"] = specs.head;
  root["program"] = specs.program;
  root["beside"] = specs.beside.empty() ? "none" : specs.beside;
  Json& problem = root["problem"];
  problem["n_q"] = p.n_q;
  problem["n_kv"] = p.n_kv;
  if (specs.input.empty()) {
    problem["d"] = p.d;
    problem["heads"] = p.heads;
    problem["kv_heads"] = p.kv_heads;
  }
  problem["causal"] = p.causal;
  problem["element"] = std::string(name_of(p.element));
  Json& tiling = root["tiling"];
  tiling["rows_q"] = specs.tiling.rows_q;
  tiling["rows_kv"] = specs.tiling.rows_kv;
  if (specs.tiling.fp32_temporaries) tiling["fp32_temporaries"] = true;
  root["hardware"] = specs.hardware;
  if (start.step) root["step"] = *start.step;
  if (start.row) root["row"] = *start.row;
  root["theme"] = start.theme == ThemeName::dark ? "dark" : "light";
  root["whole_run_n"] = start.whole_run_n;
  if (!start.notes.empty()) root["notes"] = start.notes;
  return root.dump(2) + "\n";
}

Start read_scene(const std::string& path) {
  return scene_from_json(read_text(path), path, std::filesystem::path(path).parent_path().string());
}

void write_scene(const std::string& path, const Start& start) { write_text(path, to_json(start)); }

}  // namespace fa::viz

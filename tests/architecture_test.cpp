// Who may include whom. The table is the design's; the tests hold every source file against it.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace {

struct Row {
  std::string folder;                    // the row for a file is the one with the longest folder that holds it
  std::vector<std::string> may_include;  // "folder/" or one file; a folder may always include itself
};

const std::vector<Row> table = {
    {"sim/", {"sim/"}},  // sim/sim.h, the front door
    {"sim/core/", {}},
    {"sim/config/", {"sim/core/"}},
    {"sim/record/", {"sim/core/", "sim/config/"}},
    {"sim/machine/", {"sim/core/", "sim/config/", "sim/record/"}},
    {"sim/algorithms/", {"sim/core/", "sim/config/", "sim/record/", "sim/machine/"}},
    {"sim/analysis/", {"sim/core/", "sim/config/", "sim/record/"}},
    {"sim/cli/", {"sim/sim.h"}},
    {"kernels/", {"sim/core/", "sim/config/", "sim/record/measurement.h"}},
    {"kernels/tools/", {"sim/sim.h", "kernels/attention.h"}},
    {"viz/", {"viz/app/"}},  // viz/main.cpp
    {"viz/model/", {"sim/sim.h"}},
    {"viz/draw/", {"viz/model/", "<imgui", "<implot"}},
    {"viz/app/", {"sim/sim.h", "viz/model/", "viz/draw/", "<imgui", "<implot", "<GL/", "<GLES", "<GLFW/", "<EGL/"}},
    {"lessons/", {"sim/sim.h", "kernels/attention.h"}},
    {"lessons/grade/", {"sim/sim.h", "lessons/lab.h"}},
};

// Of the libraries, only what draws is restricted: the others are wanted in many places.
const std::vector<std::string> drawing = {"<imgui", "<implot", "<GL/", "<GLES", "<GLFW/", "<EGL/"};

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return text.rfind(p, 0) == 0; });
}

// What is wrong with `file` including `target` ("sim/sim.h", or "<imgui.h>" with its bracket); nothing if it may.
std::optional<std::string> why_forbidden(const std::string& file, const std::string& target) {
  if (target[0] == '<' && !starts_with_any(target, drawing)) return std::nullopt;

  const Row* row = nullptr;
  for (const Row& r : table)
    if (file.rfind(r.folder, 0) == 0 && (!row || r.folder.size() > row->folder.size())) row = &r;
  if (!row) return "the include table has no row for it";

  if (target.rfind(row->folder, 0) == 0 || starts_with_any(target, row->may_include)) return std::nullopt;
  if (target[0] != '<' && target.find('/') == std::string::npos) return "\"" + target + "\" does not name its folder";
  return row->folder + " may not include " + target;
}

// What a line includes, with its bracket if it has one: sim/sim.h, <imgui.h>.
std::optional<std::string> included(const std::string& line) {
  const auto skip = [&](std::size_t i) { return std::min(line.find_first_not_of(" \t", i), line.size()); };
  std::size_t i = skip(0);
  if (i == line.size() || line[i] != '#') return std::nullopt;
  i = skip(i + 1);
  if (line.compare(i, 7, "include") != 0) return std::nullopt;
  i = skip(i + 7);
  const std::size_t end = i < line.size() ? line.find_first_of("\">", i + 1) : std::string::npos;
  if (end == std::string::npos) return std::nullopt;
  return line[i] == '<' ? line.substr(i, end + 1 - i) : line.substr(i + 1, end - i - 1);
}

// "file:line: reason" for each include in `text` that the table forbids.
std::vector<std::string> violations(const std::string& file, const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto target = included(line);
    if (!target) continue;
    if (const auto reason = why_forbidden(file, *target))
      found.push_back(file + ":" + std::to_string(number) + ": " + *reason);
  }
  return found;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("every source file includes only what the design's table allows") {
  const std::filesystem::path root = FA_SOURCE_DIR;
  std::string found;
  int files = 0;
  for (const char* folder : {"sim", "kernels", "viz", "lessons"}) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      ++files;
      const std::string name = entry.path().lexically_relative(root).generic_string();
      for (const std::string& violation : violations(name, read(entry.path()))) found += violation + "\n";
    }
  }
  CHECK(files > 0);
  INFO(found);
  CHECK(found.empty());
}

TEST_CASE("an include that the table forbids is reported with its file, line and reason") {
  using Reports = std::vector<std::string>;
  CHECK(violations("sim/config/tiling.h", "#pragma once\n\n#include \"sim/machine/machine.h\"\n") ==
        Reports{"sim/config/tiling.h:3: sim/config/ may not include sim/machine/machine.h"});
  CHECK(violations("viz/draw/tiles.cpp", "#include \"sim/sim.h\"") ==
        Reports{"viz/draw/tiles.cpp:1: viz/draw/ may not include sim/sim.h"});
  CHECK(violations("viz/model/scene.cpp", "#  include <imgui.h>  // no") ==
        Reports{"viz/model/scene.cpp:1: viz/model/ may not include <imgui.h>"});
  CHECK(violations("sim/core/units.cpp", "#include \"units.h\"") ==
        Reports{"sim/core/units.cpp:1: \"units.h\" does not name its folder"});
  CHECK(violations("tools/new.cpp", "#include \"sim/sim.h\"") ==
        Reports{"tools/new.cpp:1: the include table has no row for it"});
  CHECK(violations("sim/cli/main.cpp", "#include \"sim/sim.h\"\n#include \"sim/core/units.h\"\n").size() == 1);
}

TEST_CASE("what the table allows is not reported") {
  CHECK(violations("sim/machine/machine.cpp", "#include <vector>\n#include \"sim/record/event.h\"\n").empty());
  CHECK(violations("sim/machine/machine.cpp", "#include \"sim/machine/machine.h\"\n// #include \"viz/x.h\"\n").empty());
  CHECK(violations("viz/app/window.cpp", "#include <GLFW/glfw3.h>\n#include \"viz/draw/tiles.h\"\n").empty());
  CHECK(violations("kernels/host/run.cpp", "#include \"kernels/device/ptx.cuh\"").empty());
}

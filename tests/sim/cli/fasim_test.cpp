// The program as its users meet it: exit codes, one line on what is wrong, and output that others rely on.

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.h"
#include "tests/support/sim.h"

namespace {

struct Result {
  int exit_code;
  std::string text;
};

// Runs fasim; `stream` picks what is read: stdout, or stderr alone.
Result fasim(const std::string& arguments, bool errors = false) {
  const std::string command =
      std::string("'" FA_FASIM "' ") + arguments + (errors ? " 2>&1 >/dev/null" : " 2>/dev/null");
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  Result result{0, ""};
  char chunk[4096];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, pipe)) result.text.append(chunk, count);
  result.exit_code = WEXITSTATUS(pclose(pipe));
  return result;
}

nlohmann::json json(const std::string& arguments) {
  const Result result = fasim(arguments + " --json");
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.text);
}

void refused(const std::string& arguments, const std::string& must_name, int exit_code = 1) {
  const Result result = fasim(arguments, true);
  INFO("fasim " << arguments << " said: " << result.text);
  CHECK(result.exit_code == exit_code);
  CHECK(result.text.find(must_name) != std::string::npos);
  CHECK(std::count(result.text.begin(), result.text.end(), '\n') == 1);
}

const std::string smollm2 = (fa::assets_folder() / "inputs" / "smollm2.safetensors").string();

}  // namespace

TEST_CASE("fasim compare: every program's count equals its closed form, and says so in JSON") {
  const auto result = json("compare --n 300 --d 64 --heads 2 --causal");
  CHECK(result["problem"]["n_q"] == 300);
  CHECK(result["hardware"] == "h200");
  REQUIRE(result["programs"].size() == fa::programs.size());
  for (const auto& program : result["programs"]) {
    CHECK(program["requested_read_bytes"] == program["closed_form_read_bytes"]);
    CHECK(program["requested_write_bytes"] == program["closed_form_write_bytes"]);
    CHECK(program["sram_read_bytes"] == program["closed_form_sram_read_bytes"]);
    CHECK(program["sram_write_bytes"] == program["closed_form_sram_write_bytes"]);
    CHECK(program["exact"] == true);
    CHECK(program["dram_read_bytes"] > 0);
    std::int64_t read = 0;
    for (const auto& tensor : program["by_tensor"]) read += tensor["read"].get<std::int64_t>();
    CHECK(read == program["requested_read_bytes"]);
  }
}

TEST_CASE("fasim compare --pass backward: counts equal closed forms, and dQ, dK, dV are exact") {
  const auto result = json("compare --pass backward --n 300 --d 64 --heads 4 --kv-heads 2 --causal");
  REQUIRE(result["programs"].size() == fa::programs.size());
  for (const auto& program : result["programs"]) {
    CHECK(program["pass"] == "backward");
    for (const char* way : {"read", "write", "reduce"})
      CHECK(program["requested_" + std::string(way) + "_bytes"] ==
            program["closed_form_" + std::string(way) + "_bytes"]);
    for (const char* gradient : {"dQ", "dK", "dV"}) CHECK(program["errors"][gradient]["exact"] == true);
    CHECK(program["exact"] == true);
  }
  CHECK(fasim("compare --pass backward --n 64 --d 16").text.find("dQ_acc") != std::string::npos);
}

TEST_CASE("fasim run and trace know the backward") {
  const auto run = json("run --pass backward --n 100 --d 16");
  CHECK(run["programs"][0]["launches"].size() == 3);
  CHECK(run["programs"][0]["launches"][1]["requested_reduce_bytes"] > 0);
  CHECK(fasim("trace --pass backward --n 16 --d 8").text.find("softmax_gradient") != std::string::npos);
  CHECK(json("run --pass backward --tiling flash2-released --n 100 --d 128")["programs"][0]["tiling"]["rows_q"] == 64);
  CHECK(json("run --tiling flash2-released --n 100 --d 128")["programs"][0]["tiling"]["rows_q"] == 128);
}

TEST_CASE("fasim bounds --paper prints the two figures, and says what each assumes") {
  const auto result = json("bounds --paper");
  CHECK(result["figures"][0]["total_bytes"] == 40265318400);
  CHECK(result["figures"][1]["total_bytes"] == 4429185024);
  const std::string text = fasim("bounds --paper").text;
  for (const auto& figure : result["figures"])
    for (const auto& assumption : figure["assumptions"])
      CHECK(text.find(assumption.get<std::string>()) != std::string::npos);
}

TEST_CASE("fasim bounds says how far each GPU's memory reaches, and a backward reaches less far") {
  const auto forward = json("bounds --d 64")["largest_n"]["h200"];
  const auto backward = json("bounds --d 64 --pass backward")["largest_n"]["h200"];
  for (const fa::Program& program : fa::programs)
    CHECK(backward[std::string(program.name)] < forward[std::string(program.name)]);
  CHECK(forward["flash2"] > 100 * forward["naive"].get<std::int64_t>());
}

TEST_CASE("fasim compare on the bundled sentence takes its shape, mask and values from the file") {
  const auto result = json("compare --input '" + smollm2 + "'");
  CHECK(result["problem"]["causal"] == true);
  CHECK(result["problem"]["heads"] == 15);
  CHECK(result["problem"]["kv_heads"] == 5);
  for (const auto& program : result["programs"]) CHECK(program["max_abs_error"] > 0);
  CHECK(json("compare --input '" + smollm2 + "' --head 3")["problem"]["heads"] == 1);
}

TEST_CASE("a large problem is counted without its values unless they are asked for") {
  CHECK(json("compare --n 4096 --d 64 --heads 2")["programs"][0]["max_abs_error"].is_null());
  CHECK_FALSE(json("compare --n 64 --d 16")["programs"][0]["max_abs_error"].is_null());
  CHECK(json("compare --n 64 --d 16 --no-values")["programs"][0]["max_abs_error"].is_null());
}

TEST_CASE("fasim run, bounds and list speak JSON too") {
  CHECK(json("run --program naive --n 100")["programs"][0]["launches"].size() == 3);
  CHECK(json("bounds --n 1048576 --d 128")["programs"].size() == fa::programs.size());
  CHECK(json("list")["hardware"].size() == 9);
}

TEST_CASE("fasim trace writes a file that reads back as the same run") {
  const auto path = std::filesystem::temp_directory_path() / "fa_trace_test.json";
  CHECK(fasim("trace --n 20 --d 8 --rows-q 8 --rows-kv 8 --values --out '" + path.string() + "'").exit_code == 0);
  const fa::Run run = fa::run_from_json(fa::read_text(path), path.string());
  CHECK(run.events.size() > 20);
  CHECK_FALSE(run.values.empty());
  std::filesystem::remove(path);
}

TEST_CASE("fasim names the argument that is wrong and what would work, in one line, exit 1") {
  refused("compare --n 0", "--n");
  refused("compare --n abc", "--n");
  refused("compare --n 99999999999", "--n");
  refused("compare --d -1", "--d");
  refused("compare --heads 3 --kv-heads 2", "multiple");
  refused("compare --program flash9", "flash2");
  refused("compare --element int4", "bf16");
  refused("compare --element e4m3", "bf16");
  refused("compare --hardware h300", "h200");
  refused("compare --tiling none", "lesson");
  refused("run --tiling flash1-released --program flash2", "flash1-released");
  refused("run --program flash1,flash2", "compare");
  refused("run --rows-q 100000 --rows-kv 64", "buffer Q");
  refused("compare --input /nowhere.safetensors", "/nowhere.safetensors");
  refused("compare --input '" + smollm2 + "' --head 15", "--head");
  refused("compare --input '" + smollm2 + "' --n 12", "--n");
  refused("compare --head 1", "--input");
  refused("trace --n 16 --out /nowhere/trace.json", "/nowhere/trace.json");
  refused("trace --n 16 --first -1", "--first");
  refused("run --pass sideways", "--pass");
  refused("bounds --n 1073741824 --heads 1048576 --d 4096", "64 bits");
}

TEST_CASE("fasim answers wrong usage with exit 2 and help with exit 0") {
  refused("", "--help", 2);
  refused("compute", "--help", 2);
  refused("compare --bogus", "--bogus", 2);
  CHECK(fasim("--help").exit_code == 0);
  CHECK(fasim("compare --help").text.find("--kv-heads") != std::string::npos);
}

TEST_CASE("a failed write leaves the old file as it was") {
  const auto path = std::filesystem::temp_directory_path() / "fa_keep_test.json";
  fa::write_text(path, "old");
  CHECK(fasim("trace --n 16 --d 0 --out '" + path.string() + "'").exit_code == 1);
  CHECK(fa::read_text(path) == "old");
  std::filesystem::remove(path);
}

TEST_CASE("fasim measured sets counters beside the simulation, and says what it left out and why") {
  const std::string file = FA_SOURCE_DIR "/tests/golden/measured.json";
  const auto result = json("measured '" + file + "'");
  CHECK(result["hardware"] == "h200");
  REQUIRE(result["rows"].size() == 9);
  CHECK(result["rows"][0]["kernel"] == "by_hand");
  CHECK(result["rows"][0]["problem"]["n_q"] == 1024);
  CHECK(result["rows"][0]["quantity"] == "requested_read_bytes");
  CHECK(result["rows"][0]["error_percent"] == Approx(-20));
  REQUIRE(result["left_out"].size() == 1);
  CHECK(result["left_out"][0]["kernel"] == "unknown");
  for (const auto& line : result["summary"]) {
    if (line["quantity"] != "matmul_flops") continue;
    CHECK(line["count"] == 2);
    CHECK(line["mape_percent"] == 0);
  }
  CHECK(fasim("measured '" + file + "'").text.find("requested_read_bytes") != std::string::npos);
  CHECK(json("measured '" + file + "' --hardware a100")["hardware"] == "a100");
  refused("measured /nowhere.json", "/nowhere.json");
  refused("measured '" + smollm2 + "'", "smollm2.safetensors");
  refused("measured", "FILE", 2);
}

TEST_CASE("what is modelled is listed as such: DRAM bytes and the roofline") {
  const auto program = json("run --program flash2 --n 2048 --d 128")["programs"][0];
  CHECK(program["dram_read_bytes"] == 3 * 2048 * 128 * 2);
  CHECK(program["dram_write_bytes"] == 2048 * 128 * 2 + 2048 * 4);
  CHECK(program["roofline"]["roofs"].size() == 5);
  for (const char* field : {"dram_read_bytes", "dram_write_bytes", "roofline"})
    CHECK(std::count(program["modelled"].begin(), program["modelled"].end(), field) == 1);
}

TEST_CASE("fasim run --timeline models cycles, says so in JSON, and names what each lane waits for") {
  const std::string shape = "run --program flash3 --n 1024 --d 128 --heads 16 --no-values";
  CHECK(json(shape)["programs"][0]["cycles"].is_null());
  const auto program = json(shape + " --timeline")["programs"][0];
  CHECK(program["cycles"].get<std::int64_t>() > 10'000);
  CHECK(std::count(program["modelled"].begin(), program["modelled"].end(), "cycles") == 1);
  const Result table = fasim(shape + " --timeline");
  for (const char* text : {"time (modelled)", "producer", "consumer 2", "turn"})
    CHECK(table.text.find(text) != std::string::npos);
}

TEST_CASE("fasim trace --perfetto writes a file that parses, and refuses no blocks") {
  const std::string file = (std::filesystem::temp_directory_path() / "fasim_test_perfetto.json").string();
  const Result result = fasim("trace --program flash3 --n 512 --d 64 --perfetto '" + file + "'");
  CHECK(result.exit_code == 0);
  CHECK(nlohmann::json::parse(fa::read_text(file))["traceEvents"].size() > 50);
  std::filesystem::remove(file);
  refused("trace --program flash3 --perfetto x.json --blocks 0", "--blocks");
}

TEST_CASE("fasim run --sram says what moves between SRAM and registers, launch by launch") {
  const std::string shape = "run --program flash2 --n 1024 --d 128 --rows-q 128 --rows-kv 64 --no-values";
  CHECK(json(shape)["programs"][0]["sram"].is_null());
  const auto program = json(shape + " --sram")["programs"][0];
  REQUIRE(program["sram"].size() == 1);
  const auto& launch = program["sram"][0];
  CHECK(launch["warps"] == 4);
  CHECK(launch["operands"]["bytes"] == 8 * 16 * 4 * (8 + 16 + 16) * 1024);
  const std::int64_t loaded = launch["loaded"]["bytes"], sent = launch["sent"]["bytes"];
  CHECK(launch["operands"]["bytes"].get<std::int64_t>() + loaded + sent == program["sram_read_bytes"]);
  CHECK(launch["copied"]["bytes"].get<std::int64_t>() + launch["stored"]["bytes"].get<std::int64_t>() ==
        program["sram_write_bytes"]);
  CHECK(fasim(shape + " --sram").text.find("registers a thread") != std::string::npos);
}

TEST_CASE("fasim banks compares layouts, shows one bank by bank, and refuses what cannot be") {
  const auto worst = [](const std::string& options) {
    return json("banks --d 128 --access ldmatrix " + options)["rows"][0]["worst_ways"].get<int>();
  };
  CHECK(worst("--swizzle none") == 8);
  CHECK(worst("--swizzle 128") == 1);
  CHECK(worst("--pad 16") == 1);
  CHECK(json("banks --d 64")["rows"].size() == 3 * fa::access_names.size());
  CHECK(fasim("banks --d 128 --swizzle none --access ldmatrix").text.find("8 8 8 8 0 0") != std::string::npos);
  refused("banks --d 96 --swizzle 128", "--swizzle 128");
  refused("banks --swizzle 128 --pad 16", "--pad");
  refused("banks --swizzle 100", "--swizzle 100");
  refused("banks --access walk", "--access walk");
  refused("banks --rows 0", "--rows");
  refused("banks --d 128 --element fp8", "--element fp8");
}

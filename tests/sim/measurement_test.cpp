#include "sim/record/measurement.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sim/core/error.h"
#include "tests/catch.h"

using namespace fa;

namespace {

MeasurementFile sample() {
  MeasurementFile file;
  file.device = "NVIDIA H200";
  file.chip = "GH100";
  file.compute_capability = "9.0";
  file.multiprocessors = 132;
  file.l2_bytes = 62914560;
  file.memory_bytes = 150121545728.0;
  file.driver = "580.159.04";
  file.cuda = "13.0";
  file.clocks = "before: SM 1980 MHz; after: SM 1755 MHz";
  file.date = "2026-11-29";
  file.protocol = "cold";
  Measurement m;
  m.kernel = m.program = "flash2";
  m.pass = "backward";
  m.kernel_d = 128;
  m.tiling = {.rows_q = 64, .rows_kv = 128};
  m.problem = {.batch = 2,
               .heads = 8,
               .kv_heads = 2,
               .n_q = 1000,
               .n_kv = 1300,
               .d = 96,
               .causal = true,
               .element = Element::fp16};
  m.counters = {{"dram__bytes_read.sum", 123456789012.0}, {"sm__cycles_active.avg", 1234.5}};
  m.after_flush = {{"dram__bytes_write.sum", 4096.0}};
  file.measurements = {m, m};
  file.measurements[1].problem.n_q = 7;
  return file;
}

std::string error_of(const std::string& json) {
  try {
    measurements_from_json(json, "m.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a measurement file comes back as it was written") {
  const MeasurementFile file = sample();
  const std::string text = to_json(file);
  const MeasurementFile back = measurements_from_json(text, "m.json");
  CHECK(to_json(back) == text);
  REQUIRE(back.measurements.size() == 2);
  const Measurement& m = back.measurements[0];
  CHECK(m.problem == file.measurements[0].problem);
  CHECK(m.tiling == file.measurements[0].tiling);
  CHECK(m.counters == file.measurements[0].counters);
  CHECK(m.after_flush == file.measurements[0].after_flush);
  CHECK(m.counter("sm__cycles_active.avg") == 1234.5);
  CHECK_FALSE(m.counter("sm__cycles_active.sum"));
  CHECK(back.measurements[1].problem.n_q == 7);
}

TEST_CASE("a file without measurements is whole, too") {
  MeasurementFile file = sample();
  file.measurements.clear();
  CHECK(measurements_from_json(to_json(file), "m.json").measurements.empty());
}

TEST_CASE("a wrong measurement file is one line that names the file, the entry and the field") {
  const std::string good = to_json(sample());
  CHECK(error_of("").find("m.json: not a measurement file") == 0);
  CHECK(error_of("[]").find("m.json: not a measurement file") == 0);
  CHECK(error_of(good.substr(0, good.size() / 2)).find("m.json: not a measurement file") == 0);
  CHECK(error_of(replaced(good, "\"driver\"", "\"diver\"")).find("driver") != std::string::npos);
  CHECK(error_of(replaced(good, "\"n_q\":7", "\"n_q\":-7")) ==
        "m.json, measurement 1: n_q must be a positive whole number");
  CHECK(error_of(replaced(good, "\"n_q\":7", "\"n_q\":7.5")) ==
        "m.json, measurement 1: n_q must be a positive whole number");
  CHECK(error_of(replaced(good, "\"fp16\"", "\"fp12\"")).find("measurement 0: element must be") != std::string::npos);
  CHECK(error_of(replaced(good, "\"kv_heads\":2", "\"kv_heads\":3")).find("must be a multiple of kv_heads 3") !=
        std::string::npos);
  CHECK(error_of(replaced(good, "123456789012", "\"many\"")).find("m.json, measurement 0: not a measurement file") ==
        0);
  for (const std::string& message : {error_of(""), error_of(replaced(good, "\"fp16\"", "\"fp12\""))})
    CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("writing replaces the file whole, and a folder that is not there is one clear line") {
  const std::string path = (std::filesystem::temp_directory_path() / "fa_measurement_test.json").string();
  write_measurements(sample(), path);
  CHECK(read_measurements(path).measurements.size() == 2);
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  std::remove(path.c_str());
  CHECK_THROWS_AS(read_measurements(path), InputError);
  CHECK_THROWS_AS(write_measurements(sample(), "/nonexistent/folder/m.json"), InputError);
}

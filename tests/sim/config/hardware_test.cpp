#include "sim/config/hardware.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

std::string complaint(const std::string& json) {
  try {
    hardware_from_json(json, "gpu.json", "gpu");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string h200() { return read_text(assets_folder() / "hardware" / "h200.json"); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("every GPU that ships can be read, and says of each number where it comes from") {
  const auto names = hardware_names();
  CHECK(names.size() == 9);
  for (const std::string& name : names) {
    const Hardware h = hardware_named(name);
    CHECK(h.id == name);
    CHECK(h.sources.size() == 21);
    CHECK(h.sram_per_block > Bytes(0));
  }
}

TEST_CASE("the H200 has 227 KiB of SRAM for a block and 60 MiB of L2") {
  const Hardware h = hardware_named("h200");
  CHECK(h.sram_per_block == Bytes(227 * 1024));
  CHECK(h.l2 == Bytes(60 * 1024 * 1024));
  CHECK(h.sms == 132);
}

TEST_CASE("a description that lacks a field, or has an impossible one, names the field") {
  CHECK(complaint("[]").find("gpu.json") == 0);
  CHECK(complaint("{").find("gpu.json") == 0);
  CHECK(complaint("{}").find("\"name\" is missing") != std::string::npos);
  CHECK(complaint(replaced(h200(), "\"sms\": {\"value\": 132", "\"sms\": {\"value\": -1")).find("\"sms\"") !=
        std::string::npos);
  CHECK(complaint(replaced(h200(), "\"sms\": {\"value\": 132", "\"sms\": {\"value\": \"x\"")).find("\"sms\"") !=
        std::string::npos);
  CHECK(complaint(replaced(h200(), "\"value\": 232448", "\"value\": 999999")).find("sram_per_block_bytes") !=
        std::string::npos);
  CHECK(complaint(replaced(h200(), "\"measured\"", "\"guessed\"")).find("source") != std::string::npos);
}

TEST_CASE("an unknown GPU is answered with the known ones") {
  try {
    hardware_named("h300");
    FAIL("h300 was found");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("h200") != std::string::npos);
  }
}

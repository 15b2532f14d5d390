#include "sim/analysis/measured.h"

#include <fmt/format.h>

#include <cmath>

#include "tests/catch.h"
#include "tests/support/recordings.h"

using namespace fa;

namespace {

const MeasurementFile& by_hand() {
  static const MeasurementFile file = read_measurements(FA_SOURCE_DIR "/tests/golden/measured.json");
  return file;
}

std::vector<Comparison> compared(std::size_t index) {
  const Measurement& m = by_hand().measurements.at(index);
  const Run record = tests::simulated(m);
  const auto dram = dram_traffic(record);
  return compare_measured(m, record, dram ? &*dram : nullptr);
}

// "requested_read_bytes 2228224 / 2785280 = -20.00"
std::vector<std::string> lines(const std::vector<Comparison>& comparisons) {
  std::vector<std::string> result;
  for (const Comparison& c : comparisons)
    result.push_back(fmt::format("{} {:.0f} / {:.0f} = {}", c.quantity, c.simulated, c.measured,
                                 c.error_percent ? fmt::format("{:.2f}", *c.error_percent) : "none"));
  return result;
}

}  // namespace

// n 1024, d 64, tiles of 128: Q and O of 131072 bytes each, K and V eight times each, LSE of 4096; 4 · n² · d flop. The
// special-function unit: an exponential for each of n² scores, one in four lanes for each row of 8 · 8 tiles, 1 / l and
// ln l in four lanes for each row, and three integer divisions of three instructions by each thread of 8 blocks of 128.
TEST_CASE("each counter meets the simulator's number of the same meaning, with the error against the measured") {
  const std::vector<Comparison> comparisons = compared(0);
  CHECK(lines(comparisons) == std::vector<std::string>{
                                  "requested_read_bytes 2228224 / 2785280 = -20.00",
                                  "requested_write_bytes 135168 / 135168 = 0.00",
                                  "dram_read_bytes 393216 / 393216 = 0.00",
                                  "dram_write_bytes 135168 / 168960 = -20.00",
                                  "matmul_flops 268435456 / 268435456 = 0.00",
                                  "exponentials 1098752 / 1373440 = -20.00",
                              });
  for (const Comparison& c : comparisons) CHECK(c.modelled == (c.quantity.find("dram") == 0));
}

TEST_CASE("a kernel compiled for a larger d multiplies that much more") {
  CHECK(lines(compared(1)) == std::vector<std::string>{"matmul_flops 268435456 / 268435456 = 0.00"});
}

TEST_CASE("reductions are taken out of the counter of all writes") {
  const std::vector<Comparison> comparisons = compared(2);
  REQUIRE(comparisons.size() == 2);
  CHECK(comparisons[0].measured == 3000000 - 2097152);
  CHECK(lines({comparisons[1]}) == std::vector<std::string>{"requested_reduce_bytes 2097152 / 2097152 = 0.00"});
}

TEST_CASE("a summary gives mean and largest error for each quantity; what has no error does not count") {
  const auto one = [](std::string_view quantity, std::optional<double> error) {
    return Comparison{quantity, false, 1, 1, error};
  };
  const std::vector<ErrorSummary> s =
      summarise({one("a", 1.0), one("b", std::nullopt), one("a", -4.0), one("a", 1.0), one("b", -0.5)});
  REQUIRE(s.size() == 2);
  CHECK(s[0].quantity == "a");
  CHECK(s[0].count == 3);
  CHECK(s[0].mape_percent == 2);
  CHECK(s[0].max_percent == 4);
  CHECK(s[1].count == 1);
  CHECK(s[1].mape_percent == 0.5);
  CHECK(summarise({}).empty());
}

TEST_CASE("a quantity that was measured as 0 but simulated as something has no error in percent") {
  Measurement m = by_hand().measurements[0];
  m.counters = {{"l1tex__m_xbar2l1tex_read_bytes.sum", 0.0}};
  m.after_flush.clear();
  const Run record = run(program_named("flash2"), m.problem, m.tiling, hardware_named("h200"));
  const std::vector<Comparison> comparisons = compare_measured(m, record, nullptr);
  REQUIRE(comparisons.size() == 1);
  CHECK_FALSE(comparisons[0].error_percent);
}

// The agreement that the counted numbers stand on: every pass of every kernel that was recorded on an H200.
TEST_CASE(
    "flops and exponentials equal the hardware's counters, requested bytes are within 0.3 %, SRAM's within 1.1 %, in "
    "every recording") {
  for (const Measurement& m : tests::recorded()) {
    const Run record = tests::simulated(m);
    INFO(tests::describe(m));
    CHECK(record.tiling.kernel_d == m.kernel_d);
    for (const Comparison& c : compare_measured(m, record, nullptr)) {
      if (c.modelled) continue;
      INFO(c.quantity << ": " << c.simulated << " simulated, " << c.measured << " measured");
      REQUIRE(c.error_percent);
      // How often flash3 rescales depends on the data. In 8 bits it computes the scores of such a tile again.
      const bool again = m.kernel == "flash3_fp8";
      if (m.program == "flash3" && c.quantity == "exponentials")
        CHECK(std::fabs(*c.error_percent) <= (again ? 0.6 : 0.5));
      else if (again && c.quantity == "matmul_flops")
        CHECK(std::fabs(*c.error_percent) <= 0.03);
      else if (c.quantity == "matmul_flops" || c.quantity == "exponentials")
        CHECK(c.simulated == c.measured);
      else
        CHECK(std::fabs(*c.error_percent) <= (c.quantity.substr(0, 4) == "sram" ? 1.1 : 0.3));
    }
  }
  CHECK(tests::recorded().size() >= 350);
}

TEST_CASE("what fits in L2 four times over reads each input from DRAM once and writes each result once, as recorded") {
  int rows = 0;
  for (const Measurement& m : tests::recorded()) {
    if (m.program == "flash1" && m.problem.heads == 1) continue;  // so long on one SM that others' traffic is seen
    const Run record = tests::simulated(m);
    Bytes memory;
    for (const Allocation& a : record.allocations) memory += a.memory();
    if (memory * 4 > record.hardware.l2) continue;
    ++rows;
    INFO(tests::describe(m));
    const auto dram = dram_traffic(record);
    for (const Comparison& c : compare_measured(m, record, &*dram)) {
      INFO(c.quantity << ": " << c.simulated << " simulated, " << c.measured << " measured");
      if (c.quantity == "dram_read_bytes" || c.quantity == "dram_write_bytes")
        CHECK(std::fabs(c.error_percent.value()) <= 5);
    }
  }
  CHECK(rows >= 40);
}

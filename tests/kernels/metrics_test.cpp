// The profiler's own list of a chip's metrics needs neither a GPU nor a driver.
#include "kernels/tools/metrics.h"

#include <array>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/tools/metric_config.h"
#include "tests/catch.h"

using namespace fa::kernels;

TEST_CASE("every counter that fagpu measure reads exists on Hopper, and is read once") {
  const MetricConfig counted("GH100", counted_metrics), flushed("GH100", flushed_metrics);
  CHECK(counted.unknown().empty());
  CHECK(flushed.unknown().empty());
  CHECK(counted.metrics().size() == counted_metrics.size());
  CHECK(std::set<std::string_view>(counted_metrics.begin(), counted_metrics.end()).size() == counted_metrics.size());
}

TEST_CASE("the counters fit in a dozen passes, and the flushed ones in one") {
  CHECK(MetricConfig("GH100", counted_metrics).passes() <= 12);
  CHECK(MetricConfig("GH100", flushed_metrics).passes() == 1);
}

TEST_CASE("a counter that the chip does not have is left out by name, and the rest are planned") {
  constexpr std::array<std::string_view, 3> metrics{"dram__bytes_read.sum", "dram__bytes_raed.sum",
                                                    "sm__cycles_elapsed.nonsense"};
  const MetricConfig config("GH100", metrics);
  CHECK(config.unknown() == std::vector<std::string>{"dram__bytes_raed.sum", "sm__cycles_elapsed.nonsense"});
  REQUIRE(config.metrics().size() == 1);
  CHECK(std::string(config.metrics()[0]) == "dram__bytes_read.sum");
  CHECK(config.passes() == 1);
}

TEST_CASE("a chip that the profiler does not know is an error, not an empty list") {
  CHECK_THROWS_AS(MetricConfig("GX999", counted_metrics), std::runtime_error);
}

#include "sim/analysis/roofline.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

const Roof& roof(const Roofline& line, std::string_view name) {
  for (const Roof& roof : line.roofs)
    if (roof.name == name) return roof;
  throw std::runtime_error("no such roof");
}

}  // namespace

TEST_CASE("the peaks of an H200: 1.07 Pflop/s at 1.98 GHz, 4.8 TB/s, a ridge of 223 flop per byte") {
  const Hardware h200 = hardware_named("h200");
  const Work work{.flops = 1e12, .exponentials = 1e9, .sram = 1e9, .l2 = 1e9, .dram = 1e9};
  const Roofline line = roofline(work, Element::bf16, h200);
  REQUIRE(line.roofs.size() == 5);
  CHECK(roof(line, "matmul").per_second == Approx(132 * 4096 * 1.98e9));
  CHECK(roof(line, "exponentials").per_second == Approx(132 * 16 * 1.98e9));
  CHECK(roof(line, "DRAM").per_second == 4.8e12);
  CHECK(roof(line, "matmul").per_second / roof(line, "DRAM").per_second == Approx(223).epsilon(0.01));
  CHECK(roof(line, "DRAM").intensity == 1000);
  CHECK(line.lowest().name == "matmul");
  CHECK(line.of_peak == 1);
  CHECK(roof(roofline(work, Element::e4m3, h200), "matmul").per_second == Approx(132 * 8192 * 1.98e9));
}

TEST_CASE("below the ridge memory binds, above it the tensor cores do") {
  const Hardware h200 = hardware_named("h200");
  const double ridge = 132 * 4096 * 1.98e9 / 4.8e12;
  for (double intensity : {ridge / 4, ridge / 1.01, ridge * 1.01, ridge * 4}) {
    const Roofline line = roofline({.flops = intensity * 1e9, .dram = 1e9}, Element::bf16, h200);
    CHECK((line.lowest().name == "DRAM") == (intensity < ridge));
    CHECK(line.flops_per_second == Approx(std::min(intensity, ridge) * 4.8e12));
    CHECK(line.of_peak == Approx(std::min(1.0, intensity / ridge)));
  }
}

// Four warps that read K and V each for themselves ask more of SRAM than it gives while tensor cores run at their peak; two
// warpgroups do not. (FA-2's own instructions reach two thirds of that peak.)
TEST_CASE("naive attention of long sequences is bound by DRAM, flash2 by SRAM, flash3 by the tensor cores") {
  const Hardware h200 = hardware_named("h200");
  const Problem p{.heads = 4, .kv_heads = 4, .n_q = 8192, .n_kv = 8192, .d = 128};
  const auto line = [&](std::string_view program) {
    return report(run(program_named(program), p, square_tiling(128), h200)).roofline;
  };
  CHECK(line("naive").lowest().name == "DRAM");
  CHECK(line("naive").of_peak < 0.5);
  CHECK(line("flash2").lowest().name == "SRAM");
  CHECK(line("flash2").of_peak > 0.65);
  CHECK(line("flash3").lowest().name == "matmul");
}

TEST_CASE("a roof whose peak is not known, or that nothing is asked of, is left out") {
  Hardware h = hardware_named("h200");
  h.exp2_per_clk = 0;
  CHECK(roofline({.flops = 1, .exponentials = 1, .l2 = 1}, Element::bf16, h).roofs.size() == 2);
  h.sms = 0;
  CHECK(roofline({.flops = 1, .exponentials = 1, .l2 = 1}, Element::bf16, h).roofs.empty());
}

TEST_CASE("the flop that attention needs: 4 d for each pair of query and key that see each other, 10 d in a backward") {
  Random random(35);
  for (int round = 0; round < 300; ++round) {
    const Problem p = tests::any_problem(random);
    double pairs = 0;
    for (int i = 0; i < p.n_q; ++i) pairs += p.visible_keys(i);
    INFO(describe(p));
    CHECK(needed_flops(p, Pass::forward) == Approx(4 * pairs * p.d * static_cast<double>(p.heads_total())));
    CHECK(needed_flops(p, Pass::backward) == Approx(10 * pairs * p.d * static_cast<double>(p.heads_total())));
  }
}

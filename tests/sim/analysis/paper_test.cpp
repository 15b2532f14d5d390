#include "sim/analysis/paper.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

// One fp16 tensor of n² numbers for each head, and one of n·d.
constexpr std::int64_t s = std::int64_t{1024} * 1024 * 1024 * 2;
constexpr std::int64_t nd = std::int64_t{1024} * 1024 * 64 * 2;

}  // namespace

TEST_CASE("FA-1 paper, Figure 2: standard attention moves 18 N² + 12 Nd, 40.3 GB") {
  const PaperFigure standard = paper_figure2()[0];
  CHECK(standard.total() == Bytes(18 * s + 12 * nd));
  CHECK(static_cast<double>(standard.total().count()) / 1e9 == Approx(standard.printed_gb).margin(0.05));
}

TEST_CASE("FA-1 paper, Figure 2: FlashAttention moves 33 Nd, 4.4 GB") {
  const PaperFigure flash = paper_figure2()[1];
  CHECK(flash.total() == Bytes(33 * nd));
  CHECK(static_cast<double>(flash.total().count()) / 1e9 == Approx(flash.printed_gb).margin(0.05));
}

TEST_CASE("the figures' closed forms are what the programs are counted to move") {
  Problem p = paper_figure2_problem();
  p.batch = 1;
  p.heads = p.kv_heads = 1;
  Hardware h = tests::gpu(Bytes(std::int64_t{1} << 40));
  h.registers_per_sm = Bytes(std::int64_t{1} << 40);
  for (const PaperFigure& figure : paper_figure2()) {
    Bytes moved;
    for (Pass pass : {Pass::forward, Pass::backward}) {
      const Counts c = run(program_named(figure.program), p, figure.tiling, h, {.pass = pass}).counts();
      for (int i = 0; i < tensor_count; ++i) {
        const Tensor tensor = tensor_at(i);
        if (tensor == Tensor::m || tensor == Tensor::l || tensor == Tensor::D) continue;
        moved += c[tensor].read + c[tensor].written + c[tensor].reduced;
      }
    }
    CHECK(moved * 1024 == figure.total());  // batch × heads
  }
}

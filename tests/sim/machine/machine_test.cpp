#include "sim/machine/machine.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

constexpr Tiling two_by_two{.rows_q = 2, .rows_kv = 2};

// n = 4, d = 2, fp32, tiles of two rows:
//
//              K V     j=0   j=1
//              keys   0  1 | 2  3
//   Q  i=0   0 1      S    | S        a tile of Q, K, V or O is 2 × 2 × 4 = 16 bytes
//      i=1   2 3      S    | S        LSE is 4 bytes a row
constexpr Problem four_by_two{.n_q = 4, .n_kv = 4, .d = 2, .element = Element::fp32};

Counts counted(std::string_view program, Problem p = four_by_two, Tiling t = two_by_two, Pass pass = Pass::forward) {
  return run(program_named(program), p, t, gpu(), {.pass = pass}).counts();
}

std::string ops(std::string_view program, Problem p, Pass pass = Pass::forward) {
  std::string text;
  for (const Event& event :
       run(program_named(program), p, two_by_two, gpu(), {.detail = Detail::events, .pass = pass}).events) {
    text += text.empty() ? "" : " ";
    text += name_of(event.op);
    if (event.tensor != Tensor::none) text.append(":").append(name_of(event.tensor));
  }
  return text;
}

}  // namespace

TEST_CASE("flash2 by hand: Q once, K and V once per tile of Q, O and LSE once") {
  const Counts c = counted("flash2");
  CHECK(c[Tensor::Q].read == Bytes(32));
  CHECK(c[Tensor::K].read == Bytes(2 * 32));
  CHECK(c[Tensor::V].read == Bytes(2 * 32));
  CHECK(c[Tensor::O].written == Bytes(32));
  CHECK(c[Tensor::LSE].written == Bytes(16));
  CHECK(c.moved() == Bytes(32 + 64 + 64 + 32 + 16));
  CHECK(c.flops == Flops(4 * (2 * 2 * 2 * 2) * 2));  // four tile pairs, two products of 2·2·2·2 each
  CHECK(c.exponentials == 4 * (2 * 2 + 2));          // P, and a rescale factor for each row
}

TEST_CASE("flash2 by hand, causal: the tile above the diagonal is not loaded") {
  Problem causal = four_by_two;
  causal.causal = true;
  const Counts c = counted("flash2", causal);
  CHECK(c[Tensor::K].read == Bytes(16 + 32));
  CHECK(c[Tensor::O].written == Bytes(32));
}

TEST_CASE("flash1 by hand: K and V once, Q for each of two passes, O back and forth between them") {
  const Counts c = counted("flash1");
  CHECK(c[Tensor::K].read == Bytes(32));
  CHECK(c[Tensor::V].read == Bytes(32));
  CHECK(c[Tensor::Q].read == Bytes(64));
  CHECK(c[Tensor::O].read == Bytes(32));
  CHECK(c[Tensor::O].written == Bytes(64));
  CHECK(c[Tensor::l].read == Bytes(16));
  CHECK(c[Tensor::m].written == Bytes(32));
}

TEST_CASE("naive by hand: S and P are 4 x 4 and travel whole, twice each") {
  const Counts c = counted("naive");
  CHECK(c[Tensor::S].written == Bytes(64));
  CHECK(c[Tensor::S].read == Bytes(64));
  CHECK(c[Tensor::P].written == Bytes(64));
  CHECK(c[Tensor::P].read == Bytes(64));
  CHECK(c[Tensor::Q].read == Bytes(64));  // once per column of tiles
  CHECK(c[Tensor::V].read == Bytes(64));  // once per row of tiles
}

TEST_CASE("flash2's backward by hand: K and V once, Q and dO once per tile of K, dQ added to as often") {
  const Counts c = counted("flash2", four_by_two, two_by_two, Pass::backward);
  CHECK(c[Tensor::K].read == Bytes(32));
  CHECK(c[Tensor::V].read == Bytes(32));
  CHECK(c[Tensor::Q].read == Bytes(2 * 32));
  CHECK(c[Tensor::dO].read == Bytes(2 * 32 + 32));  // and for D
  CHECK(c[Tensor::O].read == Bytes(32));
  CHECK(c[Tensor::LSE].read == Bytes(2 * 16));
  CHECK(c[Tensor::D].read == Bytes(2 * 16));
  CHECK(c[Tensor::D].written == Bytes(16));
  CHECK(c[Tensor::dQ_acc].written == Bytes(32));  // zeros
  CHECK(c[Tensor::dQ_acc].reduced == Bytes(2 * 32));
  CHECK(c[Tensor::dQ_acc].read == Bytes(32));
  for (Tensor gradient : {Tensor::dQ, Tensor::dK, Tensor::dV}) CHECK(c[gradient].written == Bytes(32));
  CHECK(c.flops == Flops(4 * (2 * 2 * 2 * 2) * 5));  // four tile pairs, five products each
  CHECK(c.exponentials == 4 * (2 * 2));
}

TEST_CASE("flash1's backward by hand: dQ goes out twice and comes back once; O is read once, or twice as printed") {
  Counts c = counted("flash1", four_by_two, two_by_two, Pass::backward);
  CHECK(c[Tensor::dQ].written == Bytes(2 * 32));
  CHECK(c[Tensor::dQ].read == Bytes(32));
  CHECK(c[Tensor::O].read == Bytes(32));
  CHECK(c[Tensor::D].written == Bytes(16));
  CHECK(c[Tensor::D].read == Bytes(16));
  CHECK(c[Tensor::m].read == Bytes(2 * 16));
  Tiling printed = two_by_two;
  printed.o_every_pass = true;
  c = counted("flash1", four_by_two, printed, Pass::backward);
  CHECK(c[Tensor::O].read == Bytes(2 * 32));
  CHECK(c[Tensor::D] == TensorCounts{});
}

TEST_CASE("naive's backward by hand: P is read twice, dP once, dS twice, each 4 x 4") {
  const Counts c = counted("naive", four_by_two, two_by_two, Pass::backward);
  CHECK(c[Tensor::P].read == Bytes(2 * 64));
  CHECK(c[Tensor::dP].written == Bytes(64));
  CHECK(c[Tensor::dP].read == Bytes(64));
  CHECK(c[Tensor::dS].written == Bytes(64));
  CHECK(c[Tensor::dS].read == Bytes(2 * 64));
  CHECK(c[Tensor::dO].read == Bytes(2 * 64));  // once per column of tiles, for dV and for dP
  CHECK(c[Tensor::O] == TensorCounts{});
}

TEST_CASE("the program text of flash2's backward is Algorithm 2, step for step") {
  Problem one_pair = four_by_two;
  one_pair.n_q = one_pair.n_kv = 2;
  CHECK(ops("flash2", one_pair, Pass::backward) ==
        "start load:dO load:O row_dot store:D store:dQ_acc "
        "load:K load:V start start load:Q load:dO load:LSE load:D "
        "matmul exp convert matmul matmul softmax_gradient convert matmul matmul reduce:dQ_acc "
        "store:dK store:dV "
        "load:dQ_acc store:dQ");
}

TEST_CASE("a causal backward skips the tiles that no query of them may see") {
  Problem causal = four_by_two;
  causal.causal = true;
  const Counts c = counted("flash2", causal, two_by_two, Pass::backward);
  CHECK(c[Tensor::Q].read == Bytes(32 + 16));
  CHECK(c[Tensor::dQ_acc].reduced == Bytes(32 + 16));
}

TEST_CASE("a step of the backward names the query head that it serves") {
  Problem grouped = four_by_two;
  grouped.heads = 2;
  std::vector<Head> heads;
  for (const Event& event :
       run(program_named("flash2"), grouped, two_by_two, gpu(), {.detail = Detail::events, .pass = Pass::backward})
           .events)
    if (event.tensor == Tensor::dQ_acc && event.op == Op::reduce) heads.push_back(event.head);
  CHECK(heads == std::vector<Head>{0, 0, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("the program text of flash2 is Algorithm 1, step for step") {
  Problem one_block = four_by_two;
  one_block.n_q = 2;
  CHECK(ops("flash2", one_block) ==
        "load:Q start "
        "load:K load:V matmul running_max rescale_factor exp running_sum rescale matmul "
        "load:K load:V matmul running_max rescale_factor exp running_sum rescale matmul "
        "normalise store:O log_sum_exp store:LSE");
}

TEST_CASE("only a tile that crosses the diagonal is masked") {
  Problem causal = four_by_two;
  causal.causal = true;
  int masks = 0;
  for (const Event& event : run(program_named("flash2"), causal, two_by_two, gpu(), {.detail = Detail::events}).events)
    if (event.op == Op::mask) {
      ++masks;
      CHECK(event.rows == event.cols);
    }
  CHECK(masks == 2);
}

TEST_CASE("an SRAM of exactly the bytes that a program needs fits, and one byte less does not") {
  for (const Program& program : programs) {
    const Problem p{.n_q = 40, .n_kv = 50, .d = 16};
    const Tiling t{.rows_q = 16, .rows_kv = 8};
    for (Pass pass : {Pass::forward, Pass::backward}) {
      const Bytes needed = run(program, p, t, gpu(), {.pass = pass}).sram_peak();
      CHECK(run(program, p, t, gpu(needed), {.pass = pass}).sram_peak() == needed);
      CHECK_THROWS_AS(run(program, p, t, gpu(needed - Bytes(1)), {.pass = pass}), SpecError);
    }
  }
}

TEST_CASE("flash1 and flash2 hold one tile each of Q, K and V in SRAM") {
  const Problem p{.n_q = 40, .n_kv = 50, .d = 16};
  const Tiling t{.rows_q = 16, .rows_kv = 8};
  CHECK(run(program_named("flash2"), p, t, gpu()).sram_peak() == t.qkv_bytes(16, Element::bf16));
  CHECK(run(program_named("flash1"), p, t, gpu()).sram_peak() == Bytes((16 + 8 + 8) * 16 * 2));
}

TEST_CASE("an overflow of SRAM says which buffer, how many bytes are free and how many are missing") {
  try {
    run(program_named("flash2"), {.n_q = 64, .n_kv = 64, .d = 64}, {.rows_q = 64, .rows_kv = 64}, gpu(Bytes(20000)));
    FAIL("it fitted");
  } catch (const SpecError& error) {
    const std::string text = error.what();
    CHECK(text.find("buffer V") != std::string::npos);
    CHECK(text.find("3616 of 20000 bytes are free") != std::string::npos);
    CHECK(text.find("4576 too few") != std::string::npos);
  }
}

TEST_CASE("a buffer that is closed makes room for the next") {
  Run record;
  record.problem = {.d = 4, .element = Element::fp32};
  record.hardware = gpu(Bytes(64));
  Machine machine(record, false, INT64_MAX);
  machine.grid("reuse", 1, [](Block& block, Head) {
    { Buffer first = block.sram("first", {4, 4}); }
    Buffer second = block.sram("second", {4, 4});
  });
  CHECK(record.sram_peak() == Bytes(64));
}

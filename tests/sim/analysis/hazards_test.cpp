// Waits come from buffers; a program that reads too early or waits in a circle is refused, by name.

#include "sim/analysis/hazards.h"

#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

constexpr BufferId q = 0, k0 = 1, k1 = 2, s1 = 3, s2 = 4;

// A producer and two consumers; K in two stages.
Launch small_launch() {
  Launch launch;
  launch.name = "broken";
  launch.blocks = 1;
  launch.lanes = {"producer", "consumer 1", "consumer 2"};
  launch.buffers = {{"Q", Level::sram, {16, 8}, Bytes(256), {}, Bytes(0)},
                    {"K", Level::sram, {16, 8}, Bytes(256), {}, Bytes(256), 0},
                    {"K", Level::sram, {16, 8}, Bytes(256), {}, Bytes(512), 1},
                    {"S1", Level::registers, {16, 16}, Bytes(1024)},
                    {"S2", Level::registers, {16, 16}, Bytes(1024)}};
  return launch;
}

Event load(BufferId to, Tensor tensor) { return {.op = Op::load, .tensor = tensor, .rows = {0, 16}, .to = to}; }
Event product(int lane, BufferId to, BufferId a, BufferId b) {
  return {.op = Op::matmul, .lane = lane, .rows = {0, 16}, .to = to, .from = {a, b, no_buffer}};
}
Event turn(int lane) { return {.op = Op::turn, .lane = lane}; }

std::string refusal(const std::vector<Event>& events) {
  try {
    waits(small_launch(), events);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos) return false;
  return true;
}

}  // namespace

TEST_CASE("a product waits for its operands, and a load for the last reader of its stage") {
  const std::vector<Event> events{load(q, Tensor::Q),  load(k0, Tensor::K),   product(1, s1, q, k0),
                                  load(k1, Tensor::K), product(1, s1, q, k1), load(k0, Tensor::K)};
  const Waits w = waits(small_launch(), events);
  REQUIRE(w.events() == events.size());
  CHECK(w.of(0).empty());
  REQUIRE(w.of(2).size() == 2);
  CHECK(w.of(2)[0] == Wait{0, q, Why::read_after_write});
  CHECK(w.of(2)[1] == Wait{1, k0, Why::read_after_write});
  CHECK(w.of(3).empty());  // the other stage is free
  CHECK(w.of(4)[2] == Wait{2, s1, Why::write_after_write});
  REQUIRE(w.of(5).size() == 1);
  CHECK(w.of(5)[0] == Wait{2, k0, Why::write_after_read});  // stage reuse
}

TEST_CASE("a buffer in another's place waits until that was read, and takes its tile away") {
  Launch launch = small_launch();
  launch.buffers[k1].place = Bytes(300);  // over the end of K stage 0
  std::vector<Event> events{load(q, Tensor::Q), load(k0, Tensor::K), product(1, s1, q, k0), load(k1, Tensor::K)};
  const Waits w = waits(launch, events);
  REQUIRE(w.of(3).size() == 1);
  CHECK(w.of(3)[0] == Wait{2, k0, Why::write_after_read});
  events.push_back(product(1, s1, q, k0));
  CHECK_THROWS_AS(waits(launch, events), SpecError);
}

TEST_CASE("a tile that is read before it arrives is refused with the buffer, its stage and both events") {
  const std::string text =
      refusal({load(q, Tensor::Q), load(k0, Tensor::K), product(1, s1, q, k1), load(k1, Tensor::K)});
  INFO(text);
  CHECK(says(text, {"broken", "matmul 2 on consumer 1", "K stage 1", "load 3 on producer of K"}));
}

TEST_CASE("a tile that never arrives is refused too") {
  const std::string text = refusal({load(q, Tensor::Q), product(2, s2, q, k0)});
  INFO(text);
  CHECK(says(text, {"matmul 1 on consumer 2", "K stage 0", "nothing of this block"}));
}

TEST_CASE("turns go round: the products of the lane before come first") {
  const std::vector<Event> events{load(q, Tensor::Q),
                                  load(k0, Tensor::K),
                                  turn(1),
                                  product(1, s1, q, k0),
                                  turn(2),
                                  product(2, s2, q, k0),
                                  turn(1),
                                  product(1, s1, q, k0)};
  const Waits w = waits(small_launch(), events);
  CHECK(w.of(2).empty());
  REQUIRE(w.of(4).size() == 1);
  CHECK(w.of(4)[0] == Wait{3, no_buffer, Why::turn});
  CHECK(w.of(6)[0] == Wait{5, no_buffer, Why::turn});
}

TEST_CASE("waits that form a cycle are refused with the buffer and both events") {
  // Consumer 1, whose turn is first, reads what consumer 2 computes in its turn.
  const std::string text = refusal(
      {load(q, Tensor::Q), load(k0, Tensor::K), turn(2), product(2, s2, q, k0), turn(1), product(1, s1, s2, k0)});
  INFO(text);
  CHECK(says(text, {"cycle", "matmul 5 on consumer 1", "buffer S2", "matmul 3 on consumer 2"}));
}

TEST_CASE("a turn that never comes is refused") {
  const std::string text = refusal({load(q, Tensor::Q), load(k0, Tensor::K), turn(1), product(1, s1, q, k0), turn(2),
                                    product(2, s2, q, k0), turn(2), product(2, s2, q, k0)});
  INFO(text);
  CHECK(says(text, {"turn 6 on consumer 2", "never comes", "turn 2 on consumer 1"}));
}

TEST_CASE("a cycle on a stage names it: one stage, and a producer that must load the next tile before it is read") {
  // The loads of both tiles go to stage 0, in turns: the second load waits for the product, the product for its turn,
  // which comes after the product that reads the second tile.
  const std::string text = refusal({load(q, Tensor::Q), load(k0, Tensor::K), turn(2), product(2, s2, q, k0),
                                    load(k0, Tensor::K), turn(1), product(1, s1, q, k0)});
  INFO(text);
  CHECK(says(text, {"cycle", "K stage 0"}));
}

TEST_CASE("every program's waits are sound: none reads early, none goes in circles, on random shapes") {
  Random random(41);
  for (int round = 0; round < 60; ++round) {
    const Problem p = tests::any_problem(random);
    Tiling t = tests::any_tiling(random, 4);
    t.consumers = random.between(1, 3);
    t.stages = random.between(1, 3);
    t.producer = random.chance(0.7);
    t.ping_pong = random.chance(0.5);
    t.overlap = random.chance(0.5);
    for (const Program& program : programs) {
      const Run result = run(program, p, t, gpu(), {.detail = Detail::kinds});
      for (const Launch& launch : result.launches)
        for (const Launch::Kind& kind : launch.kinds) {
          INFO(program.name << ", " << describe(p));
          const auto events =
              std::span(result.events)
                  .subspan(static_cast<std::size_t>(kind.first_event), static_cast<std::size_t>(kind.events));
          const Waits w = waits(launch, events);
          REQUIRE(w.events() == events.size());
        }
    }
  }
}

#include "sim/analysis/cache.h"

#include <map>
#include <tuple>

#include "sim/analysis/l2.h"
#include "sim/analysis/residency.h"
#include "tests/catch.h"
#include "tests/support/sim.h"

using namespace fa;

namespace {

Problem square(int heads, int n, int d, bool causal = false, int batch = 1) {
  return {.batch = batch, .heads = heads, .kv_heads = heads, .n_q = n, .n_kv = n, .d = d, .causal = causal};
}

DramTraffic behind_l2(std::string_view program, const Problem& p, const Tiling& t, const Hardware& h,
                      Pass pass = Pass::forward) {
  const auto dram = dram_traffic(run(program_named(program), p, t, h, {.pass = pass}));
  REQUIRE(dram);
  return *dram;
}

double percent(Bytes modelled, double measured) { return 100 * (static_cast<double>(modelled.count()) / measured - 1); }

// An H200 whose L2 is another.
Hardware with_l2(std::int64_t bytes, int partitions) {
  Hardware h = hardware_named("h200");
  h.l2 = Bytes(bytes);
  h.l2_partitions = partitions;
  return h;
}

}  // namespace

// Measured on one H200, cold cache, one launch each: one head, d 128, bf16, not causal, 132 resident blocks, 128 rows
// of Q each (cuDNN 9.19's persistent kernel; dram__bytes_read.sum).
TEST_CASE("DRAM reads of a forward follow the measured sweep of n") {
  const Hardware h200 = hardware_named("h200");
  struct {
    int n;
    double read, allowed;
  } const rows[] = {
      {8192, 6313984, 3},     {16384, 12605440, 3},   {24576, 18897664, 3},   {32768, 25213184, 3},
      {49152, 59623168, 15},  {65536, 150130944, 15},  // KV of 20 to 34 MB: the edge of one partition
      {81920, 230861568, 3},  {98304, 327373568, 3},  {114688, 440635136, 3}, {131072, 570670592, 3},
      {163840, 882337280, 3},
  };
  for (const auto& row : rows) {
    const double error = percent(behind_l2("flash2", square(1, row.n, 128), square_tiling(128), h200).read, row.read);
    INFO("n " << row.n << ": " << error << " %");
    CHECK(std::abs(error) <= row.allowed);
  }
}

// Our own flash2 on the same GPU, which the model was not fitted on: two blocks fit on an SM, so two waves where the
// sweep's kernel needs four.
TEST_CASE("smaller tiles let two blocks share an SM, and halve the waves that read K and V") {
  const Hardware h200 = hardware_named("h200");
  const Tiling tiling{.rows_q = 128, .rows_kv = 64};
  const Run record = run(program_named("flash2"), square(1, 65536, 128), tiling, h200);
  CHECK(blocks_per_sm(record, record.launches[0]) == 2);
  CHECK(std::abs(percent(dram_traffic(record)->read, 83826176)) <= 3);
  const Run larger = run(program_named("flash2"), square(1, 65536, 128), square_tiling(128), h200);
  CHECK(blocks_per_sm(larger, larger.launches[0]) == 1);
}

TEST_CASE("of naive's kernels as many blocks share an SM as the registers that the compiler gave them allow") {
  const auto blocks = [](int d, int n) {
    const Problem p = square(1, n, d);
    std::map<std::string, int> result;
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const Run record = run(program_named("naive"), p, naive_tiling(d), hardware_named("h200"), {.pass = pass});
      for (const Launch& launch : record.launches) result[launch.name] = blocks_per_sm(record, launch);
    }
    return result;
  };
  // 132 registers a thread, where 128 would let two blocks of 256 share the SM's 65 536.
  CHECK(blocks(128, 1024).at("O = P V") == 1);
  CHECK(blocks(128, 1024).at("S = Q Kᵀ") == 2);
  CHECK(blocks(64, 1024).at("dK = dSᵀ Q") == 4);
  for (const auto& [n, softmax, gradient] : {std::tuple{2048, 8, 8}, {4096, 4, 2}, {16384, 1, 1}, {32768, 1, 5}}) {
    INFO(n);
    CHECK(blocks(64, n).at("P = softmax(S)") == softmax);
    CHECK(blocks(64, n).at("dS = P ∘ (dP − D)") == gradient);
  }
}

// Its last row: 16 waves of blocks read KV from DRAM once each if they stay together. On the GPU they drift apart, and it
// was 28.9 times. The model leaves that out.
TEST_CASE("what drifting blocks read twice is left out: n = 262144 is underestimated") {
  const DramTraffic dram = behind_l2("flash2", square(1, 262144, 128), square_tiling(128), hardware_named("h200"));
  const double kv = 2.0 * 262144 * 128 * 2, q = kv / 2;
  CHECK((static_cast<double>(dram.read.count()) - q) / kv == Approx(16).epsilon(0.01));
  CHECK(percent(dram.read, 3950977792) == Approx(-44).margin(1));
}

// dram__bytes_read.sum and dram__bytes_write.sum (no flush: what was dirty at the end is not in it) of the official
// kernels on one H200, cold cache, forward, bf16.
TEST_CASE("DRAM bytes of the official FlashAttention-3 forward, not causal") {
  const Hardware h200 = hardware_named("h200");
  struct {
    int batch, heads, n, d;
    Tiling tiling;
    double read, written;
  } const rows[] = {
      {32, 32, 512, 64, {.rows_q = 192, .rows_kv = 192}, 201510144, 58193408},
      {16, 32, 1024, 64, {.rows_q = 192, .rows_kv = 192}, 201481984, 58647296},
      {4, 32, 4096, 64, {.rows_q = 192, .rows_kv = 192}, 201451520, 59607296},
      {1, 32, 16384, 64, {.rows_q = 192, .rows_kv = 192}, 201570048, 61576704},
      {32, 16, 512, 128, {.rows_q = 128, .rows_kv = 176}, 201403648, 55722240},
      {16, 16, 1024, 128, {.rows_q = 128, .rows_kv = 176}, 201372928, 57297152},
      {4, 16, 4096, 128, {.rows_q = 128, .rows_kv = 176}, 201407744, 58561024},
      {1, 16, 16384, 128, {.rows_q = 128, .rows_kv = 176}, 206534400, 60056576},
      {32, 8, 512, 256, {.rows_q = 128, .rows_kv = 80}, 201385728, 54112512},
      {16, 8, 1024, 256, {.rows_q = 128, .rows_kv = 80}, 201884928, 54893824},
      {4, 8, 4096, 256, {.rows_q = 128, .rows_kv = 80}, 211924480, 56242432},
      {1, 8, 16384, 256, {.rows_q = 128, .rows_kv = 80}, 302928384, 57511680},  // 1.5 times what is compulsory
  };
  for (const auto& row : rows) {
    Tiling tiling = row.tiling;
    if (row.d == 64) tiling.consumers = 3;
    const DramTraffic dram = behind_l2("flash3", square(row.heads, row.n, row.d, false, row.batch), tiling, h200);
    INFO("n " << row.n << ", d " << row.d << ": read " << percent(dram.read, row.read) << " %, written "
              << percent(dram.written - dram.dirty, row.written) << " %");
    CHECK(std::abs(percent(dram.read, row.read)) <= 4);
    CHECK(std::abs(percent(dram.written - dram.dirty, row.written)) <= 9);
  }
}

// Its order under a causal mask, longest tiles first and several heads side by side: on the GPU up to 1.27 times what is
// compulsory, since the K and V of the heads that take turns fill one partition.
TEST_CASE("DRAM reads of the official FlashAttention-3 forward under a causal mask") {
  const Hardware h200 = hardware_named("h200");
  struct {
    int batch, heads, n, d;
    double read;
  } const rows[] = {
      {32, 32, 512, 64, 215048960},  {16, 32, 1024, 64, 224624128},  {4, 32, 4096, 64, 228690944},
      {1, 32, 16384, 64, 254905856}, {32, 16, 512, 128, 209060608},  {16, 16, 1024, 128, 213177344},
      {4, 16, 4096, 128, 210427136}, {1, 16, 16384, 128, 231622144}, {32, 8, 512, 256, 204941568},
      {16, 8, 1024, 256, 204818944}, {4, 8, 4096, 256, 201507584},   {1, 8, 16384, 256, 204183552},
  };
  for (const auto& row : rows) {
    const Tiling tiling{
        .rows_q = row.d == 64 ? 192 : 128, .rows_kv = row.d == 256 ? 80 : 128, .consumers = row.d == 64 ? 3 : 2};
    const DramTraffic dram = behind_l2("flash3", square(row.heads, row.n, row.d, true, row.batch), tiling, h200);
    INFO("n " << row.n << ", d " << row.d << ": " << percent(dram.read, row.read) << " %");
    CHECK(std::abs(percent(dram.read, row.read)) <= 8);
  }
}

// The three kernels of the official backward as one run; the main kernel's own counters.
TEST_CASE("DRAM reads of the official FlashAttention-3 backward's main kernel") {
  const Hardware h200 = hardware_named("h200");
  struct {
    int batch, heads, n, d;
    Tiling tiling;
    double read, allowed;
  } const rows[] = {
      {16, 32, 1024, 64, {.rows_q = 128, .rows_kv = 128}, 406973952, 3},
      {1, 32, 16384, 64, {.rows_q = 128, .rows_kv = 128}, 408241408, 3},
      {16, 16, 1024, 128, {.rows_q = 80, .rows_kv = 128}, 407378176, 3},
      {4, 16, 4096, 128, {.rows_q = 80, .rows_kv = 128}, 412394752, 3},
      {1, 16, 16384, 128, {.rows_q = 80, .rows_kv = 128}, 533659648, 20},  // at the edge: Q, dO, dQ of two heads
  };
  for (const auto& row : rows) {
    const DramTraffic dram =
        behind_l2("flash2", square(row.heads, row.n, row.d, false, row.batch), row.tiling, h200, Pass::backward);
    INFO("n " << row.n << ", d " << row.d << ": " << percent(dram.launches.at(1).read, row.read) << " %");
    CHECK(std::abs(percent(dram.launches.at(1).read, row.read)) <= row.allowed);
  }
}

TEST_CASE(
    "naive attention whose S fits in L2 asks DRAM for Q, K and V only; one whose S does not, for S and P as well") {
  const Hardware h200 = hardware_named("h200");
  const Problem small = square(2, 2048, 64), large = square(16, 8192, 64);  // S of 16 MiB, and of 2 GiB
  const Counts asked = run(program_named("naive"), small, square_tiling(64), h200).counts();
  const DramTraffic dram = behind_l2("naive", small, square_tiling(64), h200);
  CHECK(asked.read() > Bytes(50 << 20));
  CHECK(percent(dram.read, static_cast<double>(compulsory(small).read().count())) < 2);
  CHECK(dram.launches[1].read < Bytes(100'000));  // S is still there
  CHECK(dram.tensors[static_cast<std::size_t>(index_of(Tensor::P))].read < Bytes(100'000));

  const DramTraffic all = behind_l2("naive", large, square_tiling(64), h200);
  const Bytes s = Bytes(16) * 8192 * 8192 * 2;
  CHECK(percent(all.tensors[static_cast<std::size_t>(index_of(Tensor::S))].read, static_cast<double>(s.count())) ==
        Approx(0).margin(3));
  CHECK(percent(all.written, static_cast<double>(2 * s.count())) == Approx(0).margin(3));
}

TEST_CASE("an L2 that holds all reads each input once, and writes each result once, for every program and shape") {
  Random random(32);
  const Hardware endless = with_l2(std::int64_t{1} << 40, 2);
  for (int round = 0; round < 60; ++round) {
    Problem p = tests::any_problem(random);
    p.causal = false;  // every tile is asked for
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward}) {
        if (pass == Pass::backward && !program.backward) continue;
        const Run record = run(program, p, tests::any_tiling(random), endless, {.pass = pass});
        const DramTraffic dram = *dram_traffic(record);
        const Counts counts = record.counts();
        for (const Allocation& a : record.allocations) {
          const TensorCounts& asked = counts[a.tensor];
          const TensorCounts& moved = dram.tensors[static_cast<std::size_t>(index_of(a.tensor))];
          const bool made_here = asked.written > Bytes(0);  // then it is in L2 when it is read
          INFO(program.name << ", " << describe(p) << ", " << name_of(a.tensor));
          CHECK(moved.read == (made_here || asked.read == Bytes(0) ? Bytes(0) : a.bytes()));
          const bool overwritten = std::any_of(record.allocations.begin(), record.allocations.end(),
                                               [&](const Allocation& b) { return b.place_of == a.tensor; });
          CHECK(moved.written == (made_here && !overwritten ? a.bytes() : Bytes(0)));
        }
        CHECK(dram.dirty == dram.written);
      }
  }
}

TEST_CASE("without an L2 to speak of, and blocks one by one, DRAM moves what is requested") {
  Random random(33);
  Hardware none = with_l2(1, 1);
  none.sms = 1;
  for (int round = 0; round < 40; ++round) {
    Problem p = tests::any_problem(random);
    p.causal = false;
    for (const char* program : {"flash1", "flash2"}) {
      Tiling t = tests::any_tiling(random, 8);
      const Run record = run(program_named(program), p, t, none);
      if (blocks_per_sm(record, record.launches[0]) > 1) none.registers_per_sm = Bytes(1);
      const DramTraffic dram = *dram_traffic(run(program_named(program), p, t, none));
      INFO(program << ", " << describe(p));
      CHECK(dram.read <= record.counts().read());
      CHECK(dram.written <= record.counts().written());
      CHECK(static_cast<double>(dram.read.count()) >= 0.95 * static_cast<double>(record.counts().read().count()));
    }
  }
}

TEST_CASE("DRAM never moves more than was requested, on any GPU, and a larger L2 never makes it read more") {
  Random random(34);
  for (const std::string& id : hardware_names()) {
    const Hardware h = hardware_named(id);
    Hardware larger = h;
    larger.l2 = h.l2 * 2;
    for (const Program& program : programs) {
      const Problem p{.heads = 6, .kv_heads = 3, .n_q = 2048, .n_kv = 3000, .d = 64, .causal = random.chance(0.5)};
      const Run record = run(program, p, {.rows_q = 64, .rows_kv = 64}, h);
      Run same = record;
      same.hardware = larger;
      const DramTraffic dram = *dram_traffic(record), less = *dram_traffic(same);
      INFO(id << ", " << program.name);
      CHECK(dram.read <= record.counts().read());
      CHECK(dram.written <= record.counts().written());
      CHECK(dram.dirty <= h.l2);
      CHECK(less.read <= dram.read + Bytes(1000));
    }
  }
}

TEST_CASE("two partitions hold copies: what all SMs share fits in half of such an L2 only") {
  const Problem p = square(1, 81920, 128);  // K and V of 42 MB, five waves of blocks
  const double once = static_cast<double>(compulsory(p).read().count());
  const std::int64_t l2 = 60 << 20;
  CHECK(percent(behind_l2("flash2", p, square_tiling(128), with_l2(l2, 1)).read, once) < 10);
  CHECK(percent(behind_l2("flash2", p, square_tiling(128), with_l2(l2, 2)).read, once) > 200);
}

TEST_CASE("query heads that share K and V read them from DRAM once for the group") {
  Problem p = square(8, 8192, 128);
  p.kv_heads = 2;
  const DramTraffic dram = behind_l2("flash2", p, square_tiling(128), hardware_named("h200"));
  CHECK(dram.tensors[static_cast<std::size_t>(index_of(Tensor::K))].read == compulsory(p)[Tensor::K].read);
}

TEST_CASE("a line is kept until about one capacity of others was used, and then it is gone") {
  CHECK(chance_gone(0) == 0);
  CHECK(chance_gone(0.5) < 1e-6);
  CHECK(chance_gone(1) == Approx(0.5));
  CHECK(chance_gone(1.5) > 1 - 1e-6);
  for (double x = 0; x < 2; x += 0.01) CHECK(chance_gone(x) <= chance_gone(x + 0.01));
}

TEST_CASE("a GPU whose L2 is not known gets no DRAM bytes, rather than wrong ones") {
  Hardware h = hardware_named("h200");
  h.l2 = Bytes(0);
  CHECK_FALSE(dram_traffic(run(program_named("flash2"), square(1, 256, 64), square_tiling(64), h)));
}

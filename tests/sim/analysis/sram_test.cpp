#include "sim/analysis/sram.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sim/analysis/sram_forms.h"
#include "tests/catch.h"
#include "tests/support/recordings.h"
#include "tests/support/sim.h"

using namespace fa;
using tests::gpu;

namespace {

SramTraffic traffic_of(std::string_view program, const Problem& p, const Tiling& t, Pass pass = Pass::forward,
                       Detail detail = Detail::kinds) {
  const Hardware big = gpu(Bytes(1 << 30));
  return total_sram_traffic(run(program_named(program), p, t, big, {.detail = detail, .pass = pass}));
}

Problem square(int n, int d) { return {.n_q = n, .n_kv = n, .d = d, .element = Element::bf16}; }

std::int64_t kib(Bytes bytes) { return bytes.count() / 1024; }

// What the hardware counted for flash2: sm__sass_data_bytes_mem_shared_op_{ldsm,ld,st}.
struct Recorded {
  Problem p;
  Tiling t;
  std::int64_t ldsm, ld, st;
};

void check_flash2(Pass pass, const std::vector<Recorded>& rows) {
  for (const Recorded& row : rows) {
    INFO(describe(row.p));
    const SramTraffic t = traffic_of("flash2", row.p, row.t, pass);
    CHECK(t.operands.bytes == Bytes(row.ldsm));
    CHECK(t.loaded.bytes == Bytes(row.ld));
    CHECK(t.stored.bytes == Bytes(row.st));
  }
}

// In percent. Arbitration is left out (MODEL.md): what reads while copies arrive, or while wgmma has the port, takes turns
// again.
double read_wavefronts_limit(const Measurement& m) {
  if (m.program == "flash1" && m.pass == "forward") return 8;  // it reads sums of rows more than once
  if (m.kernel == "flash3_fp8") return 11;                     // three warps turn V around beside wgmma
  // One partner's sums of dQ leave through the L1 while the other reads: without either there are no conflicts (flash2's
  // NOTES.md).
  if (m.kernel == "flash2" && m.pass == "backward" && m.problem.d > 128) return 5;
  return 2;
}

double bytes_limit(const Measurement& m) {
  if (m.program == "flash1" && m.pass == "forward") return 1.1;  // it reads sums of rows more than once
  if (m.kernel == "flash3_fp8") return 0.03;                     // tiles whose scores are computed again
  if (m.program == "flash3") return 0;
  return m.program == "flash2" ? 0.001 : 0.04;  // rows past the last
}

double percent_off(Bytes simulated, double measured) {
  return 100 * std::fabs(static_cast<double>(simulated.count()) / measured - 1);
}

}  // namespace

TEST_CASE("the closed form of SRAM traffic equals the count of every program, on 2000 random shapes, both passes") {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const Problem p = tests::any_problem(random);
    Tiling t = tests::any_tiling(random);
    t.rows_q *= random.between(1, 4);  // enough rows and keys for several warps
    t.rows_kv *= random.between(1, 4);
    t.consumers = random.between(1, 3);
    t.p_in_sram = random.chance(0.5);
    Hardware h = gpu();
    if (random.chance(0.3)) h.registers_per_sm = Bytes(64);  // no row of S fits
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward}) {
        const auto form = sram_closed_form(program.name, p, t, h, pass);
        REQUIRE(form);
        const Counts counts = run(program, p, t, h, {.pass = pass}).counts();
        INFO(program.name << ", " << name_of(pass) << ", " << describe(p) << ", tiles " << t.rows_q << " x "
                          << t.rows_kv);
        REQUIRE(counts.sram_read == form->read);
        REQUIRE(counts.sram_written == form->written);
      }
  }
}

TEST_CASE("by kind of block or event by event, SRAM traffic adds up to what the machine counted") {
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const Problem p = tests::any_problem(random);
    const Tiling t = tests::any_tiling(random);
    for (const Program& program : programs)
      for (Pass pass : {Pass::forward, Pass::backward}) {
        const SramTraffic kinds = traffic_of(program.name, p, t, pass);
        const SramTraffic events = traffic_of(program.name, p, t, pass, Detail::events);
        const Counts counts = run(program, p, t, gpu(Bytes(1 << 30)), {.pass = pass}).counts();
        INFO(program.name << ", " << name_of(pass) << ", " << describe(p));
        CHECK(kinds.read() == counts.sram_read);
        CHECK(kinds.written() == counts.sram_written);
        CHECK(events.read() == counts.sram_read);
        CHECK(events.written() == counts.sram_written);
        CHECK(kinds.wavefronts() == Approx(events.wavefronts()));
      }
  }
}

// n 1024, d 128, bf16, 128 × 64 tiles: 8 tiles of Q meet 16 of K and V. Four warps of 32 queries; each reads its 8 KiB of
// Q and all 16 KiB of K and of V.
TEST_CASE("each warp that shares a K, V tile reads it again; Q is read once, P never") {
  const SramTraffic t = traffic_of("flash2", square(1024, 128), {.rows_q = 128, .rows_kv = 64});
  CHECK(kib(t.operands.bytes) == 8 * 16 * 4 * (8 + 16 + 16));
  CHECK(kib(t.stored.bytes) == 1024 * 128 * 2 / 1024);  // O, on its way out
  CHECK(kib(t.loaded.bytes) == 1024 * 128 * 2 / 1024);
  CHECK(t.conflicts() == 0);
  CHECK(t.wavefronts() == Approx(static_cast<double>((t.read() + t.written()).count()) / 128));
  // Tiles of 256 queries: half the copies of K and V, by twice the warps.
  const SramTraffic taller = traffic_of("flash2", square(1024, 128), {.rows_q = 256, .rows_kv = 64});
  CHECK(taller.operands.bytes == t.operands.bytes);
  CHECK(taller.copied.bytes < t.copied.bytes);
}

// FA-1 has four warps side by side along the keys: K and V once, Q four times, and a sum of O in each.
TEST_CASE("warps split over the keys trade re-reads of K and V for partial sums of O through SRAM") {
  const Tiling t{.rows_q = 16, .rows_kv = 128};
  const SramTraffic flash1 = traffic_of("flash1", square(1024, 64), t);
  const std::int64_t steps = 1024 / 16 * (1024 / 128);
  CHECK(kib(flash1.operands.bytes) == steps * (4 * 2 + 16 + 16));
  const std::int64_t sums = 4 * 16 * 64 * 4, maxima_and_sums = 2 * 16 * 4 * 4;
  CHECK(flash1.stored.bytes == Bytes(steps * (sums + maxima_and_sums)));
  CHECK(flash1.loaded.bytes == Bytes(steps * (sums + 4 * maxima_and_sums)));
}

// The research note's arithmetic for FA-3 on Hopper (attention_kernels.md, section 0): KiB for each pair of tiles.
TEST_CASE("wgmma reads what FA-3's budgets say: 160 and 208 KiB a tile forward, 336 and 396 backward") {
  const auto forward = [](int rows_kv) {
    const Problem p{.n_q = 128, .n_kv = rows_kv, .d = 128, .element = Element::bf16};
    return kib(traffic_of("flash3", p, {.rows_q = 128, .rows_kv = rows_kv}).operands.bytes);
  };
  CHECK(forward(128) == 160);
  CHECK(forward(176) == 208);
  const auto backward = [](int rows_q) {  // what comes and goes, but for the loads; one tile of keys, many of queries
    const auto at = [&](int tiles) {
      const Problem p{.n_q = rows_q * tiles, .n_kv = 128, .d = 128, .element = Element::bf16};
      const SramTraffic t = traffic_of("flash3", p, {.rows_q = rows_q, .rows_kv = 128}, Pass::backward);
      // LSE and D of the rows, as the two warpgroups read them, are not in the note's sum.
      return t.read() + t.stored.bytes - Bytes(rows_q * tiles * 4 * 2 * 2);
    };
    return kib(at(11) - at(10));
  };
  CHECK(backward(64) == 336);
  CHECK(backward(80) == 396);
}

// sm__sass_data_bytes_mem_shared_op_{ldsm,ld,st} as recorded on an H200, of the published flash2 (kernels/flash2): all
// heads, bf16.
TEST_CASE("flash2's SRAM bytes are those that the hardware counted, to the byte") {
  check_flash2(Pass::forward, {
                                  {{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 512, .d = 64},
                                   {.rows_q = 256, .rows_kv = 128},
                                   37748736,
                                   1048576,
                                   1048576},
                                  {{.batch = 3, .heads = 5, .kv_heads = 5, .n_q = 1000, .n_kv = 1000, .d = 64},
                                   {.rows_q = 256, .rows_kv = 128},
                                   141557760,
                                   1920000,
                                   1966080},
                                  {{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 512, .d = 128},
                                   {.rows_q = 128, .rows_kv = 64},
                                   83886080,
                                   2097152,
                                   2097152},
                                  {{.heads = 7, .kv_heads = 7, .n_q = 3001, .n_kv = 2777, .d = 128},
                                   {.rows_q = 128, .rows_kv = 64},
                                   1211105280,
                                   5377792,
                                   5505024},
                                  {{.heads = 7, .kv_heads = 7, .n_q = 3001, .n_kv = 2777, .d = 128, .causal = true},
                                   {.rows_q = 128, .rows_kv = 64},
                                   605552640,
                                   5377792,
                                   5505024},
                                  {{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 512, .d = 256},
                                   {.rows_q = 128, .rows_kv = 64},
                                   301989888,
                                   4194304,
                                   4194304},
                              });
}

TEST_CASE("the backward's too: P and dS traded between the warps that share keys, LSE and D read by all of them") {
  check_flash2(Pass::backward, {
                                   {{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 512, .d = 64},
                                    {.rows_q = 32, .rows_kv = 128},
                                    150994944,
                                    3178496,
                                    10518528},
                                   {{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 512, .d = 128},
                                    {.rows_q = 64, .rows_kv = 128},
                                    285212672,
                                    5275648,
                                    21004288},
                                   {{.heads = 16, .kv_heads = 16, .n_q = 512, .n_kv = 512, .d = 256},
                                    {.rows_q = 64, .rows_kv = 64},
                                    788529152,
                                    10518528,
                                    25198592},
                               });
}

// As recorded before these kernels read and wrote HBM otherwise; 16 heads, n 512. What flash1 does besides: it parks m and l
// in SRAM as they came, and reads maxima again.
TEST_CASE("naive's SRAM bytes are the counters' to the byte, flash1's operands too and the rest within 3 %") {
  struct {
    std::string_view program;
    Pass pass;
    int d;
    std::int64_t ldsm, ld, st;
  } const rows[] = {
      {"naive", Pass::forward, 64, 58720256, 13664256, 9994240},
      {"naive", Pass::backward, 64, 150994944, 22020096, 20185088},
      {"naive", Pass::forward, 128, 100663296, 14712832, 11042816},
      {"naive", Pass::backward, 128, 251658240, 25165824, 23330816},
      {"flash1", Pass::forward, 64, 83886080, 38273024, 34865152},
      {"flash1", Pass::backward, 64, 201326592, 7340032, 10747904},
      {"flash1", Pass::forward, 128, 201326592, 146276352, 136839168},
      {"flash1", Pass::backward, 128, 503316480, 23068672, 13107200},
  };
  for (const auto& row : rows) {
    INFO(row.program << " " << name_of(row.pass) << ", d " << row.d);
    Problem p = square(512, row.d);
    p.heads = p.kv_heads = 16;
    const bool naive = row.program == "naive";
    const SramTraffic t = traffic_of(row.program, p, naive ? naive_tiling(row.d) : flash1_tiling(row.d), row.pass);
    CHECK(t.operands.bytes == Bytes(row.ldsm));
    const auto near = [&](Bytes bytes, std::int64_t measured) {
      return naive ? bytes == Bytes(measured)
                   : static_cast<double>(bytes.count()) == Approx(static_cast<double>(measured)).epsilon(0.03);
    };
    CHECK(near(t.loaded.bytes, row.ld));
    CHECK(near(t.stored.bytes, row.st));
  }
}

TEST_CASE("in every recording SRAM bytes are the counters', wgmma's wavefronts too, and those of all reads near them") {
  int rows = 0;
  for (const Measurement& m : tests::recorded()) {
    if (m.problem.n_q > 1200) continue;
    ++rows;
    INFO(tests::describe(m));
    const Run record = tests::simulated(m, Detail::kinds);
    const SramTraffic traffic = total_sram_traffic(record);
    const auto counted = [&](std::string_view op) {
      return m.counter(fmt::format("sm__sass_data_bytes_mem_shared_op_{}.sum", op)).value();
    };
    double read = counted("ldsm") + counted("gmma"), stored = counted("stsm");
    if (m.program == "flash3") {
      CHECK(traffic.operands.wavefronts ==
            Approx(m.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum").value()).epsilon(0.002));
    } else {  // flash3's plain reads and writes tell where the next tile is, which is no traffic of tiles
      read += counted("ld");
      stored += counted("st");
    }
    const double limit = bytes_limit(m);
    CHECK(percent_off(traffic.operands.bytes + traffic.loaded.bytes, read) <= limit);
    CHECK(percent_off(traffic.stored.bytes, stored) <= limit);
    for (const Comparison& c : compare_measured(m, record, nullptr))
      if (c.quantity == "sram_read_wavefronts") CHECK(std::fabs(c.error_percent.value()) <= read_wavefronts_limit(m));
  }
  CHECK(rows >= 100);
}

TEST_CASE("a tile of 16 keys by 128 queries lies in rows too short for a swizzle, and pays for it") {
  const Problem p = square(512, 64);
  const SramTraffic t = traffic_of("flash1", p, {.rows_q = 16, .rows_kv = 128}, Pass::backward);
  const double steps = 512 / 16 * (512 / 128);
  CHECK(t.stored.conflicts == steps * 32);     // dS: 4 KiB in 32 wavefronts more
  CHECK(t.operands.conflicts == steps * 128);  // read by four warps
}

TEST_CASE("registers: FA-3's forward needs S, P and O at once, 160 a thread for 128 x 128 and 196 for 128 x 176") {
  const auto used = [](std::string_view program, const Problem& p, const Tiling& t) {
    return register_use(run(program_named(program), p, t, gpu(), {.detail = Detail::kinds})).at(0);
  };
  const Problem p = square(512, 128);
  const auto rows = [](double of_thread) { return static_cast<int>(of_thread); };  // m, l and r come on top: 1.5 here
  CHECK(rows(used("flash3", p, {.rows_q = 128, .rows_kv = 128}).of_thread) == 161);
  CHECK(rows(used("flash3", p, {.rows_q = 128, .rows_kv = 176}).of_thread) == 197);
  CHECK(used("flash3", p, {.rows_q = 128, .rows_kv = 128}).warps == 12);
  // FA-2: S and then P in the same place, 64, and O, 128.
  const RegisterUse flash2 = used("flash2", p, {.rows_q = 128, .rows_kv = 64});
  CHECK(flash2.warps == 4);
  CHECK(rows(flash2.of_thread) >= 192);
  CHECK(rows(flash2.of_thread) < 196);
  CHECK(flash2.of_block == Bytes(static_cast<std::int64_t>(flash2.of_thread * 4 * 128)));
}

#include "sim/analysis/banks.h"

#include <set>

#include "tests/catch.h"

using namespace fa;

namespace {

constexpr TileLayout plain(int rows, int row_bytes, int pad = 0) { return {rows, row_bytes, Swizzle::none, pad}; }

// Eight lanes with 16 bytes each, `pitch` bytes apart: a phase of ldmatrix.
constexpr LaneAddresses eight_rows(int pitch) {
  LaneAddresses lanes;
  for (int row = 0; row < 8; ++row) lanes.address[static_cast<std::size_t>(lanes.lanes++)] = row * pitch;
  return lanes;
}

}  // namespace

// Drawn by hand: 8 rows of 128 bytes begin at bank 0 all; 16 bytes of padding move each row on by 4 banks.
static_assert(wavefronts_of(eight_rows(128)) == 8);
static_assert(wavefronts_of(eight_rows(256)) == 8);
static_assert(wavefronts_of(eight_rows(64)) == 4);
static_assert(wavefronts_of(eight_rows(32)) == 2);
static_assert(wavefronts_of(eight_rows(16)) == 1);
static_assert(wavefronts_of(eight_rows(128 + 16)) == 1);
static_assert(words_of_phase(eight_rows(128), 0)[3] == 8 && words_of_phase(eight_rows(128), 0)[4] == 0);

TEST_CASE("rows side by side give every ldmatrix an 8-way conflict, and the swizzle gives none") {
  for (TileAccess access : {TileAccess::ldmatrix, TileAccess::ldmatrix_trans})
    for (int d : {64, 128, 256}) {
      const BankUse rows = bank_use(plain(64, d * 2), access);
      CHECK(rows.instructions == 64 / 16 * d / 16);
      CHECK(rows.least == 4 * rows.instructions);
      CHECK(rows.wavefronts == 32 * rows.instructions);
      CHECK(rows.worst == 8);
      const BankUse swizzled = bank_use(usual_layout(64, d * 2), access);
      CHECK(usual_layout(64, d * 2).swizzle == Swizzle::bytes_128);
      CHECK(swizzled.wavefronts == swizzled.least);
      for (int words : swizzled.worst_words) CHECK(words == 1);
    }
}

TEST_CASE("each swizzle is free of conflicts for rows of its own width, and narrower rows need a narrower one") {
  for (Swizzle swizzle : {Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128})
    for (int panels : {1, 2, 3}) {
      const TileLayout layout{64, panels * width_of(swizzle), swizzle};
      for (TileAccess access : {TileAccess::ldmatrix, TileAccess::store_4}) {
        INFO(name_of(swizzle) << " " << name_of(access) << " " << layout.row_bytes);
        REQUIRE_FALSE(why_invalid(layout, access));
        CHECK(bank_use(layout, access).worst == 1);
      }
    }
  CHECK(bank_use(plain(64, 64), TileAccess::ldmatrix).worst == 4);
  CHECK(bank_use(plain(64, 32), TileAccess::ldmatrix).worst == 2);
  CHECK(why_invalid({64, 96, Swizzle::bytes_128}, TileAccess::ldmatrix));
}

TEST_CASE("copies along the rows conflict only where they jump between panels narrower than 128 bytes") {
  for (Swizzle swizzle : {Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
    CHECK(bank_use({64, width_of(swizzle), swizzle}, TileAccess::copy_16).worst == 1);
    CHECK(bank_use({64, 256, swizzle}, TileAccess::copy_16).worst == 128 / width_of(swizzle));
  }
}

TEST_CASE("a swizzle moves chunks about and loses none") {
  for (Swizzle swizzle : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
    const TileLayout layout{32, 256, swizzle};
    std::set<int> places;
    for (int row = 0; row < layout.rows; ++row)
      for (int byte = 0; byte < layout.row_bytes; ++byte) places.insert(layout.at(row, byte));
    CHECK(places.size() == std::size_t{32 * 256});
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == 32 * 256 - 1);
  }
}

TEST_CASE("the 128-byte swizzle is that of our kernels: chunk c of row r stands at c xor r mod 8") {
  const TileLayout layout{64, 128, Swizzle::bytes_128};
  for (int row = 0; row < 64; ++row)
    for (int chunk = 0; chunk < 8; ++chunk) CHECK(layout.at(row, chunk * 16) == row * 128 + (chunk ^ (row & 7)) * 16);
  const TileLayout narrow{64, 64, Swizzle::bytes_64};  // d 32
  for (int row = 0; row < 64; ++row)
    for (int chunk = 0; chunk < 4; ++chunk)
      CHECK(narrow.at(row, chunk * 16) == row * 64 + (chunk ^ (row / 2 & 3)) * 16);
}

TEST_CASE("16 bytes of padding do what a swizzle does, and a column of numbers needs 4") {
  CHECK(bank_use(plain(64, 256, 16), TileAccess::ldmatrix).worst == 1);
  CHECK(bank_use(plain(64, 256, 32), TileAccess::ldmatrix).worst == 2);
  CHECK(bank_use(plain(64, 256), TileAccess::column_4).worst == 32);
  CHECK(bank_use(plain(64, 256, 4), TileAccess::column_4).worst == 1);
  CHECK(bank_use(plain(64, 256), TileAccess::copy_16).worst == 1);  // along the rows nothing ever conflicts
}

// flash1 pieces O together in 64 columns of fp32 with 8 more between rows.
TEST_CASE("fp32 fragments: rows of 64 numbers conflict 4-way, 8 numbers of padding end that") {
  const BankUse without = bank_use(plain(16, 256), TileAccess::store_8);
  CHECK(without.worst == 4);
  CHECK(bank_use(plain(16, 256, 32), TileAccess::store_8).worst == 1);
}

// flash1's CUDA backward has dS as rows of 16 numbers, too short for its swizzle. The rows here are n, rows_kv, the steps
// of all blocks (heads · tiles of keys · tiles of queries), and l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum as
// recorded on an H200 (16 heads, no mask).
TEST_CASE("the conflicts of flash1's dS are those that the hardware counted") {
  struct {
    int n, rows_kv;
    double measured;
  } const rows[] = {
      {512, 128, 327680}, {1024, 128, 1310721}, {2048, 128, 5242882}, {4096, 128, 20971614}, {512, 64, 327995}};
  for (const auto& row : rows) {
    const TileLayout dS = plain(row.rows_kv, 32);
    REQUIRE(usual_layout(dS.rows, dS.row_bytes) == dS);
    const BankUse stored = bank_use(dS, TileAccess::store_4), read = bank_use(dS, TileAccess::ldmatrix_trans);
    const std::int64_t each_step = stored.wavefronts - stored.least + 4 * (read.wavefronts - read.least);  // 4 warps
    const double steps = 16.0 * (row.n / row.rows_kv) * (row.n / 16);
    CHECK(steps * static_cast<double>(each_step) == Approx(row.measured).epsilon(0.001));
  }
}

TEST_CASE("lanes that want the same word wait for nobody") {
  LaneAddresses lanes;
  lanes.bytes = 4;
  lanes.lanes = 32;
  CHECK(wavefronts_of(lanes) == 1);  // all at 0
  for (std::size_t lane = 0; lane < 32; ++lane) lanes.address[lane] = static_cast<int>(lane % 2) * 128;
  CHECK(wavefronts_of(lanes) == 2);
  for (std::size_t lane = 0; lane < 32; ++lane) lanes.address[lane] = static_cast<int>(lane) * 4;
  CHECK(wavefronts_of(lanes) == 1);
}

TEST_CASE("a layout or an access that cannot be is refused with the option to change") {
  const auto why = [](TileLayout layout, TileAccess access) { return why_invalid(layout, access).value_or("fine"); };
  CHECK(why({64, 128, Swizzle::bytes_128, 16}, TileAccess::ldmatrix) ==
        "--pad and --swizzle are two ways to keep rows apart; give one of them.");
  CHECK(why(plain(64, 128, 8), TileAccess::ldmatrix).find("--pad must be one") != std::string::npos);
  CHECK(why(plain(64, 128, 3), TileAccess::column_4).find("--pad must be a multiple of 4") == 0);
  CHECK(why(plain(60, 128), TileAccess::ldmatrix).find("--rows 60") != std::string::npos);
  CHECK(why(plain(64, 24), TileAccess::ldmatrix).find("--d") != std::string::npos);
  CHECK(why(plain(64, 128), TileAccess::ldmatrix) == "fine");
}

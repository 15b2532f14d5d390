#pragma once
// Bank conflicts: how many turns shared memory takes for one instruction of a warp, given how a tile is laid out.
//
// Shared memory has 32 banks of 4 bytes. A wavefront takes at most one word from each bank, 128 bytes at best. The lanes
// of an instruction go in phases of 128 bytes: all 32 at 4 bytes each, 16 at 8, 8 at 16. Lanes of a phase that want
// different words of one bank wait for one wavefront more each; a word that several want is given to all at once.
//
//   rows of 256 bytes, one below the other        the same, swizzled: chunk c of row r stands at c ^ (r mod 8)
//   row 0  ▓░░░░░░░ ░░░░░░░░                      row 0  ▓░░░░░░░ …
//   row 1  ▓░░░░░░░ ░░░░░░░░   8 rows of one      row 1  ░▓░░░░░░ …     8 rows of one chunk column: all 32 banks,
//   row 2  ▓░░░░░░░ ░░░░░░░░   chunk column:      row 2  ░░▓░░░░░ …     one wavefront
//     …                        4 banks, 8 turns     …

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fa {

inline constexpr int bank_count = 32, bank_bytes = 4, lane_count = 32;
inline constexpr int wavefront_bytes = bank_count * bank_bytes;
inline constexpr int chunk_bytes = 16;  // what swizzles move about

// Which chunk of a row stands where, within pieces of 32, 64 or 128 bytes: TMA's and wgmma's patterns. Rows wider than
// that are cut in panels, as those want them. (Our mma.sync kernels leave such rows whole: the banks are the same.)
enum class Swizzle : signed char { none, bytes_32, bytes_64, bytes_128 };
inline constexpr std::array<std::string_view, 4> swizzle_names{"none", "32", "64", "128"};
constexpr std::string_view name_of(Swizzle swizzle) { return swizzle_names[static_cast<std::size_t>(swizzle)]; }
constexpr int width_of(Swizzle swizzle) { return swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(swizzle); }

struct TileLayout {
  int rows = 0;
  int row_bytes = 0;
  Swizzle swizzle = Swizzle::none;
  int pad_bytes = 0;  // between rows; only without a swizzle

  friend constexpr bool operator==(const TileLayout&, const TileLayout&) = default;

  // Where a byte of a row lies, from the tile's beginning.
  constexpr int at(int row, int byte) const {
    const int width = width_of(swizzle);
    if (width == 0) return row * (row_bytes + pad_bytes) + byte;
    const int plain = row * width + byte % width;  // in its panel
    return byte / width * rows * width + (plain ^ (plain / wavefront_bytes % (width / chunk_bytes) * chunk_bytes));
  }
};

// The widest swizzle whose pieces make up a row; none below 64 bytes. It is what our kernels' tiles have.
constexpr TileLayout usual_layout(int rows, int row_bytes) {
  const Swizzle swizzle = row_bytes % 128 == 0  ? Swizzle::bytes_128
                          : row_bytes % 64 == 0 ? Swizzle::bytes_64
                                                : Swizzle::none;
  return {rows, row_bytes, swizzle};
}

// What a warp does to a tile. Together its instructions touch each byte of the tile once.
enum class TileAccess : signed char {
  ldmatrix,        // four 8 × 16-byte matrices into fragments; stmatrix, and what wgmma reads, take the same banks
  ldmatrix_trans,  // the same, each turned on its way: behind the banks
  copy_16,         // 16 bytes a lane, along the rows: cp.async, and the last step of an epilogue
  store_4,         // fragments of sums, packed to 16 bits: lane 4g + t has 4 bytes of row g
  store_8,         // fragments of fp32 sums: 8 bytes of row g
  column_4,        // 4 bytes of a row for each lane: a column, as code without ldmatrix reads it
};
inline constexpr std::array<std::string_view, 6> access_names{"ldmatrix", "ldmatrix-trans", "cp-async",
                                                              "store-4",  "store-8",        "column-4"};
constexpr std::string_view name_of(TileAccess access) { return access_names[static_cast<std::size_t>(access)]; }

// The addresses of one instruction's lanes.
struct LaneAddresses {
  std::array<int, lane_count> address{};
  int lanes = 0;   // that take part
  int bytes = 16;  // of each
};

// Words that each bank gives in one phase, the lanes [first, first + wavefront_bytes / bytes).
constexpr std::array<int, bank_count> words_of_phase(const LaneAddresses& of, int first) {
  std::array<int, bank_count> words{};
  std::array<int, bank_count> seen{};  // words so far
  int count = 0;
  const int end = first + wavefront_bytes / of.bytes < of.lanes ? first + wavefront_bytes / of.bytes : of.lanes;
  for (int lane = first; lane < end; ++lane)
    for (int offset = 0; offset < of.bytes; offset += bank_bytes) {
      const int word = (of.address[static_cast<std::size_t>(lane)] + offset) / bank_bytes;
      bool known = false;
      for (int i = 0; i < count; ++i) known = known || seen[static_cast<std::size_t>(i)] == word;
      if (known) continue;
      seen[static_cast<std::size_t>(count++)] = word;
      ++words[static_cast<std::size_t>(word % bank_count)];
    }
  return words;
}

constexpr int most(const std::array<int, bank_count>& words) {
  int most = 0;
  for (int count : words) most = count > most ? count : most;
  return most;
}

constexpr int wavefronts_of(const LaneAddresses& of) {
  int wavefronts = 0;
  for (int first = 0; first < of.lanes; first += wavefront_bytes / of.bytes)
    wavefronts += most(words_of_phase(of, first));
  return wavefronts;
}

struct BankUse {
  std::int64_t instructions = 0;  // of a warp, to touch the whole tile once
  std::int64_t wavefronts = 0;
  std::int64_t least = 0;                     // what they would be without a conflict
  int worst = 0;                              // wavefronts of the worst phase: "8-way conflict"; 1: none
  std::array<int, bank_count> worst_words{};  // words that each bank gives in that phase

  double conflicts() const { return least == 0 ? 1 : static_cast<double>(wavefronts) / static_cast<double>(least); }
};

// A full sentence if the tile cannot be laid out or touched like this.
std::optional<std::string> why_invalid(const TileLayout& layout, TileAccess access);

// Of all instructions that it takes to touch the tile once.
BankUse bank_use(const TileLayout& layout, TileAccess access);

}  // namespace fa

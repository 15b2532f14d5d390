#include "sim/analysis/banks.h"

#include <fmt/format.h>

#include <cassert>

namespace fa {
namespace {

// Rows and bytes of a row that one instruction touches at most, and the bytes of each lane.
struct Reach {
  int rows, bytes, lane_bytes;
};

Reach reach(TileAccess access) {
  switch (access) {
    case TileAccess::ldmatrix:
    case TileAccess::ldmatrix_trans: return {16, 2 * chunk_bytes, 16};
    case TileAccess::copy_16: return {1, chunk_bytes, 16};
    case TileAccess::store_4: return {8, 16, 4};
    case TileAccess::store_8: return {8, 32, 8};
    case TileAccess::column_4: return {32, 4, 4};
  }
  return {};
}

// The instruction whose first lane is at (row, byte). Lanes below the last row do not take part.
LaneAddresses instruction(const TileLayout& layout, TileAccess access, int row, int byte) {
  const Reach r = reach(access);
  LaneAddresses result;
  result.bytes = r.lane_bytes;
  for (int lane = 0; lane < lane_count; ++lane) {
    int lane_row = row, lane_byte = byte;
    if (access == TileAccess::copy_16) {
      const std::int64_t chunk = std::int64_t{row} * (layout.row_bytes / chunk_bytes) + byte / chunk_bytes + lane;
      lane_row = static_cast<int>(chunk / (layout.row_bytes / chunk_bytes));
      lane_byte = static_cast<int>(chunk % (layout.row_bytes / chunk_bytes)) * chunk_bytes;
    } else if (access == TileAccess::column_4) {
      lane_row += lane;
    } else if (r.lane_bytes == 16) {  // 8 rows at a time: upper left, lower left, upper right, lower right
      lane_row += lane % 16;
      lane_byte += lane / 16 * chunk_bytes;
    } else {
      lane_row += lane / 4;
      lane_byte += lane % 4 * r.lane_bytes;
    }
    if (lane_row >= layout.rows || lane_byte >= layout.row_bytes) continue;
    result.address[static_cast<std::size_t>(result.lanes++)] = layout.at(lane_row, lane_byte);
  }
  return result;
}

}  // namespace

std::optional<std::string> why_invalid(const TileLayout& layout, TileAccess access) {
  const int width = width_of(layout.swizzle);
  if (layout.rows < 1 || layout.row_bytes < 1) return "A tile needs at least one row and one number in it.";
  if (width > 0 && layout.pad_bytes != 0)
    return "--pad and --swizzle are two ways to keep rows apart; give one of them.";
  if (layout.pad_bytes < 0 || layout.pad_bytes % bank_bytes != 0)
    return fmt::format("--pad must be a multiple of {} bytes that is not negative, not {}.", bank_bytes,
                       layout.pad_bytes);
  if (width > 0 && layout.row_bytes % width != 0)
    return fmt::format("--swizzle {} needs rows of a multiple of {} bytes, not {}; choose another --swizzle or --d.",
                       name_of(layout.swizzle), width, layout.row_bytes);
  const Reach r = reach(access);
  if (layout.row_bytes % r.bytes != 0)
    return fmt::format("--access {} takes {} bytes of a row at a time, and rows have {}; choose another --d.",
                       name_of(access), r.bytes, layout.row_bytes);
  if (r.lane_bytes == 16 && (layout.row_bytes + layout.pad_bytes) % chunk_bytes != 0)
    return fmt::format("--access {} needs rows that begin at multiples of {} bytes: --pad must be one, not {}.",
                       name_of(access), chunk_bytes, layout.pad_bytes);
  if (layout.rows % 8 != 0 && access != TileAccess::copy_16)
    return fmt::format("--access {} takes 8 rows at a time, and --rows {} is no multiple of 8.", name_of(access),
                       layout.rows);
  return std::nullopt;
}

BankUse bank_use(const TileLayout& layout, TileAccess access) {
  assert(!why_invalid(layout, access));
  const Reach r = reach(access);
  const bool by_chunks = access == TileAccess::copy_16;  // an instruction may end anywhere in a row
  const std::int64_t chunks = std::int64_t{layout.row_bytes / r.bytes} * layout.rows;
  BankUse use;
  const auto touch = [&](int row, int byte) {
    const LaneAddresses lanes = instruction(layout, access, row, byte);
    ++use.instructions;
    for (int first = 0; first < lanes.lanes; first += wavefront_bytes / lanes.bytes) {
      const std::array<int, bank_count> words = words_of_phase(lanes, first);
      use.wavefronts += most(words);
      ++use.least;
      if (most(words) > use.worst) use.worst = most(words), use.worst_words = words;
    }
  };
  if (by_chunks) {
    const int in_row = layout.row_bytes / chunk_bytes;
    for (std::int64_t chunk = 0; chunk < chunks; chunk += lane_count)
      touch(static_cast<int>(chunk / in_row), static_cast<int>(chunk % in_row) * chunk_bytes);
  } else {
    for (int row = 0; row < layout.rows; row += r.rows)
      for (int byte = 0; byte < layout.row_bytes; byte += r.bytes) touch(row, byte);
  }
  return use;
}

}  // namespace fa

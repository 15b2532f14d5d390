#include "sim/analysis/sectors.h"

#include <algorithm>
#include <array>

namespace fa {
namespace {

constexpr std::int64_t panel = 128;  // bytes
constexpr int lanes = 32;            // of a warp: so many rows' statistics at once

std::int64_t covered(std::int64_t begin, std::int64_t end) {
  return ceil_div(end, sector_bytes) - begin / sector_bytes;
}

// Sectors of tiles of statistics, numbers of one head that begin at byte `head_begin`.
std::int64_t of_column(const Access& access, std::int64_t head_begin, int bytes_each) {
  std::int64_t sum = 0;
  const auto at = [&](int row) { return head_begin + std::int64_t{row} * bytes_each; };
  for (int tile = access.rows.begin; tile < access.rows.end; tile += access.tile.rows) {
    const int end = std::min(tile + access.tile.rows, access.rows.end);
    for (int row = tile; row < end; row += lanes) sum += covered(at(row), at(std::min(row + lanes, end)));
  }
  return sum;
}

// Of tiles of rows, each of which begins with a sector.
std::int64_t of_rows(const Access& access, int bytes_each) {
  std::int64_t row = 0;
  for (int tile = access.cols.begin; tile < access.cols.end; tile += access.tile.cols)
    row += covered(std::int64_t{tile} * bytes_each,
                   std::int64_t{std::min(tile + access.tile.cols, access.cols.end)} * bytes_each);
  return row * access.rows.size();
}

bool in_boxes(const Run& run, Tensor tensor, Op op) {
  return run.tiling.whole_boxes && op == Op::load &&
         (tensor == Tensor::Q || tensor == Tensor::K || tensor == Tensor::V);
}

// Whole tiles of Q, K and V, in panels as wide as the swizzle: 64 numbers of 8 bits fill half of one. Of a block's tiles, all
// but the last have all their rows.
Bytes of_boxes(const Run& run, const BlockAccesses& block) {
  const Tiling& t = run.tiling;
  const std::int64_t row = ceil_div(t.width(run.problem.d) * size_of(run.problem.element), panel) * panel;
  Bytes sum;
  for (Tensor operand : {Tensor::Q, Tensor::K, Tensor::V}) {
    const int tile = operand == Tensor::Q ? t.rows_q : t.rows_kv;
    std::int64_t rows = 0;
    for (const Access& access : block)
      if (access.tensor == operand && in_boxes(run, operand, access.op)) rows += access.rows.size();
    sum += Bytes(ceil_div(rows, tile) * tile) * row;
  }
  return sum;
}

}  // namespace

Sectors sectors(const Run& run) {
  std::array<Allocation, tensor_count> tensors;
  for (const Allocation& a : run.allocations) tensors[static_cast<std::size_t>(index_of(a.tensor))] = a;
  Sectors result;
  for (const Launch& launch : run.launches)
    for (Accesses::Cursor at(launch.accesses); const BlockAccesses* block = at.next();) {
      result.read += of_boxes(run, *block);
      for (const Access& access : *block) {
        if (in_boxes(run, access.tensor, access.op)) continue;
        const Allocation& tensor = tensors[static_cast<std::size_t>(index_of(access.tensor))];
        const std::int64_t head_begin = access.head * tensor.rows * tensor.bytes_each;
        const std::int64_t count =
            tensor.cols == 1 ? of_column(access, head_begin, tensor.bytes_each) : of_rows(access, tensor.bytes_each);
        (access.op == Op::load    ? result.read
         : access.op == Op::store ? result.written
                                  : result.reduced) += Bytes(count * sector_bytes);
      }
    }
  return result;
}

}  // namespace fa

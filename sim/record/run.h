#pragma once
// The record of one program on one problem: its launches, and (if asked) every event and every value.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/config/hardware.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"
#include "sim/record/counts.h"
#include "sim/record/event.h"

namespace fa {

enum class Detail {
  totals,  // counts only; cheap at any size
  events,  // and the list of events
  values,  // and the arithmetic, operands rounded to the problem's element type where the kernels round them
};

enum class Level : signed char { sram, registers };

// A named piece of SRAM or of the register file, as a block lays it out.
struct BufferInfo {
  std::string name;
  Level level = Level::sram;
  TileShape shape;
  Bytes bytes;
  std::optional<float> fill;  // of an accumulator: what it holds after `start`; −∞ for m

  friend bool operator==(const BufferInfo&, const BufferInfo&) = default;
};

// One CUDA kernel launch.
struct Launch {
  std::string name;         // "P = softmax(S)"
  std::int64_t blocks = 0;  // thread blocks in the grid
  std::int64_t first_event = 0;
  std::vector<BufferInfo> buffers;
  Bytes sram_peak;  // of one block
  Counts counts;
};

// A tensor that stands in HBM while the program runs.
struct Allocation {
  Tensor tensor = Tensor::none;
  std::int64_t heads = 0;  // batch × heads
  int rows = 0, cols = 0;
  int bytes_each = 0;

  friend bool operator==(const Allocation&, const Allocation&) = default;

  Bytes bytes() const { return Bytes(heads) * rows * cols * bytes_each; }
};

struct Accuracy {
  double max_abs_error = 0;        // of O against attention in double on the same rounded inputs
  double plain_max_abs_error = 0;  // of plain, unfused attention in the same element type
  double tolerance = 0;            // 2 · plain + atol (DESIGN.md): what counts as exact
  double lse_max_error = -1;       // max |LSE − ref| / max(1, |ref|); −1: the program leaves no LSE
  bool exact = false;
};

struct Run {
  std::string program;
  std::string pass = "forward";
  Problem problem;
  Tiling tiling;
  Hardware hardware;
  Detail detail = Detail::totals;
  std::vector<Launch> launches;
  std::vector<Allocation> allocations;
  std::vector<Event> events;        // Detail::events and above
  std::vector<float> values;        // results of the events, where recorded
  std::vector<std::string> tokens;  // labels of the rows, if the input has them

  Counts counts() const {
    Counts sum;
    for (const Launch& launch : launches) sum += launch.counts;
    return sum;
  }
  Bytes sram_peak() const {
    Bytes peak;
    for (const Launch& launch : launches)
      if (launch.sram_peak > peak) peak = launch.sram_peak;
    return peak;
  }
  Bytes footprint() const {
    Bytes sum;
    for (const Allocation& allocation : allocations) sum += allocation.bytes();
    return sum;
  }
  // The values that an event left in its buffer, row-major rows × cols; empty if not recorded.
  std::span<const float> values_of(const Event& event) const {
    if (event.values < 0) return {};
    const auto count = static_cast<std::size_t>(event.rows.size()) * static_cast<std::size_t>(event.cols.size());
    return std::span<const float>(values).subspan(static_cast<std::size_t>(event.values), count);
  }
};

}  // namespace fa

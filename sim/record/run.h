#pragma once
// The record of one program on one problem: its launches, and (if asked) every event and every value.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/config/hardware.h"
#include "sim/config/pass.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"
#include "sim/config/warps.h"
#include "sim/record/accesses.h"
#include "sim/record/counts.h"
#include "sim/record/event.h"

namespace fa {

enum class Detail {
  layout,  // launches and the tensors in HBM; no block runs: the footprint of any size at once
  totals,  // counts only; cheap at any size
  kinds,   // and the events of one block of each kind, for models of time: cheap too
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
  std::optional<float> fill = std::nullopt;  // of an accumulator: what it holds after `start`; −∞ for m
  // In SRAM: where it begins. Buffers of one block may stand in the same place in turn.
  std::optional<Bytes> place = std::nullopt;
  int stage = -1;           // of a buffer that stands several times: which one
  int lane = 0;             // who opened it: several lanes may have one of a name
  WarpGrid warps = {};      // in registers: how the warps share it
  bool by_columns = false;  // its columns lie in one piece each, not its rows

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
  Accesses accesses;  // which tiles each block moved

  // Who does a block's events, by Event::lane, where warps have roles; empty where all do the same.
  std::vector<std::string> lanes;
  bool persistent = false;  // one block for each SM stays and takes these, in this order, as tiles of work

  // Detail::kinds: blocks that do the same work, but elsewhere, are one kind.
  struct Kind {
    std::int64_t first_event = 0, events = 0;  // in Run::events, of the first such block
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  std::vector<Kind> kinds;
  std::vector<std::int32_t> kind_of;  // by block
};

// A tensor that stands in HBM while the program runs.
struct Allocation {
  Tensor tensor = Tensor::none;
  std::int64_t heads = 0;  // batch × heads
  int rows = 0, cols = 0;
  int bytes_each = 0;
  Tensor place_of = Tensor::none;  // written over this tensor, of the same shape: no memory of its own

  friend bool operator==(const Allocation&, const Allocation&) = default;

  Bytes bytes() const { return Bytes(heads) * rows * cols * bytes_each; }
  Bytes memory() const { return place_of == Tensor::none ? bytes() : Bytes(0); }
};

// The error of one result against attention in double on the same rounded inputs.
struct TensorError {
  Tensor tensor = Tensor::O;       // O; dQ, dK, dV
  double max_abs_error = 0;        // over all heads
  double plain_max_abs_error = 0;  // of plain, unfused attention in the same element type
  double tolerance = 0;            // 2 · plain + atol (DESIGN.md): what counts as exact

  bool exact() const { return max_abs_error <= tolerance; }
};

inline constexpr double lse_tolerance = 1e-3;  // of max(1, |LSE|)

struct Accuracy {
  std::vector<TensorError> tensors;
  double lse_max_error = -1;  // max |LSE − ref| / max(1, |ref|); −1: the program leaves no LSE

  bool exact() const {
    for (const TensorError& error : tensors)
      if (!error.exact()) return false;
    return lse_max_error <= lse_tolerance;
  }
  // The one that comes closest to what is allowed, or exceeds it most.
  const TensorError& worst() const {
    const TensorError* worst = &tensors.front();
    for (const TensorError& error : tensors)
      if (error.max_abs_error * worst->tolerance > worst->max_abs_error * error.tolerance) worst = &error;
    return *worst;
  }
};

struct Run {
  std::string program;
  Pass pass = Pass::forward;
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

#pragma once
// The machine: a GPU's memory hierarchy that runs programs tile by tile and records what they ask of it.
//
// A program opens grids of blocks. A block opens named buffers in SRAM (checked against the capacity of one thread
// block) and in registers, loads tiles from HBM, computes on them, and stores. Every operation appends one Event; with
// Detail::values it also does the arithmetic, in fp32, with operands rounded to the problem's element type exactly
// where a tensor-core kernel rounds them: on the way into a matmul, and on every store.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/matrix.h"
#include "sim/machine/hbm.h"
#include "sim/record/run.h"
#include "sim/record/state.h"

namespace fa {

class Block;

// A buffer that closes when it goes out of scope, as shared memory is reused. Get one from Block::sram or registers.
class Buffer {
 public:
  Buffer(Block& block, BufferId id) : block_(block), id_(id) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  BufferId id() const { return id_; }

 private:
  Block& block_;
  BufferId id_;
};

// Marks a matmul operand that is read as its transpose.
struct Transposed {
  const Buffer& buffer;
};
inline Transposed transposed(const Buffer& buffer) { return {buffer}; }

class Machine {
 public:
  // Stops (see `stopped`) after `stop_after` events; records values beside events only if `record_values`.
  Machine(Run& run, bool record_values, std::int64_t stop_after);

  const Problem& problem() const { return run_.problem; }
  Bytes sram_capacity() const { return run_.hardware.sram_per_block; }
  const Hardware& hardware() const { return run_.hardware; }

  // Reserves a tensor in HBM; counts towards the footprint.
  HbmTensor hbm(Tensor id, Head heads, int rows, int cols, Element element);

  // Launches a kernel: body(block, head, i) for every head and every tile of rows, tiles fastest.
  template <class Body>
  void grid(std::string name, Head heads, Tiles rows, Body body) {
    begin_launch(std::move(name), checked_multiply(heads, rows.size()));
    for (Head head = 0; head < heads; ++head)
      for (Rows i : rows) in_block(head, [&](Block& block) { body(block, head, i); });
  }
  // The same with a block for every pair of tiles, columns fastest.
  template <class Body>
  void grid(std::string name, Head heads, Tiles rows, Tiles cols, Body body) {
    begin_launch(std::move(name), checked_multiply(heads, checked_multiply(rows.size(), cols.size())));
    for (Head head = 0; head < heads; ++head)
      for (Rows i : rows)
        for (Rows j : cols) in_block(head, [&](Block& block) { body(block, head, i, j); });
  }

  // A block for every head.
  template <class Body>
  void grid(std::string name, Head heads, Body body) {
    begin_launch(std::move(name), heads);
    for (Head head = 0; head < heads; ++head) in_block(head, [&](Block& block) { body(block, head); });
  }

  // The machine as it stands: what `replay` must reproduce.
  State state() const;

  struct Stopped {};  // thrown out of the program when stop_after is reached

 private:
  friend class Block;

  // What a buffer of the current block holds.
  struct Slot {
    bool open = false;
    int bytes_each = 0;
    BufferState content;        // its `values` stay empty: they are here
    Matrix values;              // the whole tile; content.rows × content.cols of it is meaningful
    std::vector<float> before;  // of a running statistic: its values before the last update
  };

  void begin_launch(std::string name, std::int64_t blocks);
  template <class Body>
  void in_block(Head head, Body body);
  void begin_block(Head head);
  void record(Event& event);
  bool computes() const { return run_.detail == Detail::values; }
  Launch& launch() { return run_.launches.back(); }

  Run& run_;
  bool record_values_;
  std::int64_t stop_after_;
  std::int64_t steps_ = 0;
  std::int64_t block_ = -1;
  Head head_ = 0;
  Bytes sram_used_;
  std::deque<Slot> slots_;  // by BufferId of the current launch; a deque, so that growing moves nothing
};

// A thread block. All tiles that an operation combines must fit each other; a mismatch is a bug in the program.
class Block {
 public:
  explicit Block(Machine& machine) : machine_(machine) {}

  const Problem& problem() const { return machine_.problem(); }

  // Opens a buffer of `shape` numbers, of the problem's element type in SRAM and of fp32 in registers.
  // Throws SpecError, naming the buffer and what is free, if SRAM cannot hold it.
  Buffer sram(std::string_view name, TileShape shape);
  Buffer registers(std::string_view name, TileShape shape);
  // Registers that keep a result from tile to tile. `start` sets every open accumulator to its `fill` for rows i.
  Buffer accumulator(std::string_view name, TileShape shape, float fill);
  void start(Rows i);

  // Moves rows × cols of a tensor; only what is inside the tensor is requested.
  void load(const Buffer& to, HbmSource from, Rows rows);
  void load(const Buffer& to, HbmSource from, Rows rows, Rows cols);
  void store(HbmTarget to, const Buffer& from);  // the rows and columns that the buffer stands for

  void matmul(const Buffer& to, const Buffer& a, Transposed b, double scale);  // to ← scale · A Bᵀ
  void matmul_add(const Buffer& to, const Buffer& a, const Buffer& b);         // to ← to + A B

  void mask(const Buffer& scores);                    // S ← −∞ where the query may not see the key
  void scale(const Buffer& scores, double factor);    // S ← factor · S, a pass of its own
  void dropout(const Buffer& p, const Buffer& keep);  // P ← keep ∘ P / (1 − p), keep: one byte each, p = 0 here

  // The online softmax, one paper symbol each (FA-2, Algorithm 1, lines 8–10).
  void running_max(const Buffer& m, const Buffer& scores);                // m ← max(m, rowmax S)
  void rescale_factor(const Buffer& r, const Buffer& m);                  // r ← exp(m before − m)
  void exp(const Buffer& p, const Buffer& scores, const Buffer& m);       // P ← exp(S − m)
  void running_sum(const Buffer& l, const Buffer& p);                     // l ← l + rowsum P
  void running_sum(const Buffer& l, const Buffer& r, const Buffer& p);    // l ← r · l + rowsum P
  void rescale(const Buffer& o, const Buffer& r);                         // O ← r · O
  void normalise(const Buffer& o, const Buffer& l);                       // O ← O / l, and 0 where l = 0
  void log_sum_exp(const Buffer& lse, const Buffer& m, const Buffer& l);  // LSE ← m + ln l

 private:
  friend class Buffer;
  using Slot = Machine::Slot;

  BufferId open(std::string_view name, Level level, TileShape shape, int bytes_each, std::optional<float> fill);
  void close(BufferId id);
  Slot& slot(const Buffer& buffer) { return machine_.slots_[static_cast<std::size_t>(buffer.id())]; }
  const BufferInfo& info(const Buffer& buffer) {
    return machine_.launch().buffers[static_cast<std::size_t>(buffer.id())];
  }
  MatrixView tile(const Buffer& buffer);

  // The bytes that SRAM gives when a matmul reads the whole buffer, or an operation only what is inside the tensor;
  // registers cost it nothing.
  Bytes whole(const Buffer& buffer) { return sram_bytes(buffer, info(buffer).shape); }
  Bytes touched(const Buffer& buffer);
  Bytes sram_bytes(const Buffer& buffer, TileShape shape);

  void hold(const Buffer& buffer, Rows rows, Rows cols);
  // Fills in what every event has, counts it and appends it to the run.
  void record(Op op, const Buffer& to, std::initializer_list<const Buffer*> from, Event event);

  Machine& machine_;
};

inline Buffer::~Buffer() { block_.close(id_); }

template <class Body>
void Machine::in_block(Head head, Body body) {
  begin_block(head);
  Block block(*this);
  body(block);
}

}  // namespace fa

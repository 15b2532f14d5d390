#pragma once
// The machine: a GPU's memory hierarchy that runs programs tile by tile and records what they ask of it.
//
// A program opens grids of blocks. A block opens named buffers in SRAM (checked against the capacity of one thread
// block) and in registers, loads tiles from HBM, computes on them, and stores. Every operation appends one Event; with
// Detail::values it also does the arithmetic, in fp32, with operands rounded to the problem's element type exactly
// where a tensor-core kernel rounds them: on the way into a matmul, and on every store.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  Buffer(Buffer&& other) noexcept : block_(other.block_), id_(std::exchange(other.id_, no_buffer)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  BufferId id() const { return id_; }

 private:
  Block& block_;
  BufferId id_;
};

// Marks a matmul operand that is read as its transpose. `kept`: the warps that made it have their own parts of it in
// registers still, so that SRAM gives only the parts of others.
struct Transposed {
  const Buffer& buffer;
  bool kept = false;
};
inline Transposed transposed(const Buffer& buffer) { return {buffer}; }
inline Transposed transposed_kept(const Buffer& buffer) { return {buffer, true}; }

// Marks a tile in registers that leaves through SRAM, in the place of tiles that the block needs no longer: the sums of a
// tensor core lie scattered over the lanes, and HBM wants whole rows.
struct ThroughSram {
  const Buffer& buffer;
};
inline ThroughSram through_sram(const Buffer& buffer) { return {buffer}; }

class Machine {
 public:
  // Stops (see `stopped`) after `stop_after` events; records values beside events only if `record_values`.
  Machine(Run& run, bool record_values, std::int64_t stop_after);

  const Problem& problem() const { return run_.problem; }
  Bytes sram_capacity() const { return run_.hardware.sram_per_block; }
  const Hardware& hardware() const { return run_.hardware; }

  // Reserves a tensor in HBM; counts towards the footprint, unless it takes the place of another.
  HbmTensor hbm(Tensor id, Head heads, int rows, int cols, Element element, Tensor place_of = Tensor::none);
  // Counts a tensor that an earlier program has left in HBM.
  void keep(const HbmTensor& tensor);

  // Launches a kernel: body(block, head, i) for every head and every tile of rows, tiles fastest.
  template <class Body>
  void grid(std::string name, Heads heads, Tiles rows, Body body) {
    if (!begin_launch(std::move(name), checked_multiply(heads.size(), rows.size()))) return;
    for (Head head : heads)
      for (Rows i : rows) in_block(head, [&](Block& block) { body(block, head, i); });
  }
  // The same with heads in sections of so many: first the first tile of each head of a section, then the second.
  template <class Body>
  void grid(std::string name, Heads heads, Tiles rows, Head section, Body body) {
    if (!begin_launch(std::move(name), checked_multiply(heads.size(), rows.size()))) return;
    for (Head first = 0; first < heads.size(); first += section)
      for (Rows i : rows)
        for (Head k = first; k < std::min(first + section, heads.size()); ++k)
          in_block(heads.at(k), [&](Block& block) { body(block, heads.at(k), i); });
  }
  // The same with a block for every pair of tiles, columns fastest.
  template <class Body>
  void grid(std::string name, Heads heads, Tiles rows, Tiles cols, Body body) {
    const std::int64_t tiles = checked_multiply(rows.size(), cols.size());
    if (!begin_launch(std::move(name), checked_multiply(heads.size(), tiles))) return;
    for (Head head : heads)
      for (Rows i : rows)
        for (Rows j : cols) in_block(head, [&](Block& block) { body(block, head, i, j); });
  }

  // A block for every head.
  template <class Body>
  void grid(std::string name, Heads heads, Body body) {
    if (!begin_launch(std::move(name), heads.size())) return;
    for (Head head : heads) in_block(head, [&](Block& block) { body(block, head); });
  }

  // One block for each SM stays and takes tiles of work in this order, each the next when it is free. Without a
  // section, tiles fastest, but those with fewer rows at last, if so asked: they fill the gaps at the end. With one, so many
  // heads side by side, and of those the last tile first: under a causal mask it is the longest, and the heads of a section
  // share the L2.
  template <class Body>
  void persistent(std::string name, Head heads, Tiles rows, Head section, bool short_last, Body body) {
    const int whole = rows.size() - (short_last && !rows.empty() && rows.at(rows.size() - 1).size() < rows.step());
    if (section == 0) {
      if (begin_launch(std::move(name), checked_multiply(heads, rows.size())))
        for (const auto& [from, to] : {std::pair{0, whole}, std::pair{whole, rows.size()}})
          for (Head head = 0; head < heads; ++head)
            for (int tile = from; tile < to; ++tile)
              in_block(head, [&](Block& block) { body(block, head, rows.at(tile)); });
    } else if (begin_launch(std::move(name), checked_multiply(heads, rows.size()))) {
      for (Head first = 0; first < heads; first += section)
        for (int tile = rows.size() - 1; tile >= 0; --tile)
          for (Head head = first; head < std::min(first + section, heads); ++head)
            in_block(head, [&](Block& block) { body(block, head, rows.at(tile)); });
    }
    launch().persistent = true;
  }

  // The machine as it stands: what `replay` must reproduce.
  State state() const;

  struct Stopped {};  // thrown out of the program when stop_after is reached

 private:
  friend class Block;

  // What a buffer of the current block holds.
  struct Slot {
    bool open = false;
    Element element = Element::fp32;
    int sram_bytes_each = 0;  // of one number; 0 in registers, which cost SRAM nothing
    WarpGrid warps;
    TileShape shape;
    BufferState content;        // its `values` stay empty: they are here
    Matrix values;              // the whole tile; content.rows × content.cols of it is meaningful
    std::vector<float> before;  // of a running statistic: its values before the last update
  };

  bool begin_launch(std::string name, std::int64_t blocks);  // false if no block is to run
  template <class Body>
  void in_block(Head head, Body body);
  void begin_block(Head head);
  void end_block();
  void record(Event& event);
  bool computes() const { return run_.detail == Detail::values; }
  Launch& launch() { return *launch_; }

  Run& run_;
  bool record_values_;
  std::int64_t stop_after_;
  std::int64_t steps_ = 0;
  std::int64_t block_ = -1;
  Head head_ = 0;
  int lane_ = 0;
  Bytes sram_used_;
  std::int64_t divisions_ = 0;  // of the block's indices, to be counted with its next event
  Launch* launch_ = nullptr;    // the current one: the last of the run
  int launch_index_ = -1;
  std::vector<Slot> slots_;                                // by BufferId of the current launch
  std::size_t block_event_ = 0;                            // of run_.events: the block's first
  std::unordered_map<std::uint64_t, std::int32_t> kinds_;  // of the current launch, by what their events do
};

// A thread block. All tiles that an operation combines must fit each other; a mismatch is a bug in the program.
class Block {
 public:
  explicit Block(Machine& machine) : machine_(machine) {}

  const Problem& problem() const { return machine_.problem(); }

  // What follows is done for query head `head`: a block of the backward goes through all that share its K and V.
  void serve(Head head) { machine_.head_ = head; }

  // Warpgroups with roles: each is a lane, and does what follows `on`. The first lane named has number 0.
  int lane(std::string_view name);
  void on(int lane) { machine_.lane_ = lane; }
  void turn();     // waits until the products of the lane before are done; lanes that take turns go round
  void barrier();  // waits until every lane of the block is here

  // Opens a buffer of `shape` numbers, of the problem's element type in SRAM and of fp32 in registers, where `warps` share
  // it. Throws SpecError, naming the buffer and what is free, if SRAM cannot hold it.
  Buffer sram(std::string_view name, TileShape shape);
  Buffer sram(std::string_view name, TileShape shape, Element element);
  Buffer sram_stage(std::string_view name, TileShape shape, int stage);  // one of several of that name
  Buffer registers(std::string_view name, TileShape shape, WarpGrid warps = {});
  // Of the element type, wherever it is; made by `warps`. `by_columns`: it lies as its transpose.
  Buffer packed(std::string_view name, TileShape shape, bool in_sram, WarpGrid warps = {}, bool by_columns = false);
  // Registers that keep a result from tile to tile. `start` sets every open accumulator, or one, to its `fill` for
  // rows i.
  Buffer accumulator(std::string_view name, TileShape shape, float fill, WarpGrid warps = {});
  void start(Rows i);
  void start(const Buffer& accumulator, Rows i);

  // Each thread of so many warps finds its block's head by `count` integer divisions, which take three instructions of
  // the special-function unit: to float, reciprocal, back.
  void divide(int count, std::int64_t warps) { machine_.divisions_ += 3 * RowWork::lanes * count * warps; }

  // Moves rows × cols of a tensor; only what is inside the tensor is requested.
  void load(const Buffer& to, HbmSource from, Rows rows);
  void load(const Buffer& to, HbmSource from, Rows rows, Rows cols);
  // The rows that the buffer stands for, and all its columns: zeros that d was padded with leave too, if the tensor has
  // room for them.
  void store(HbmTarget to, const Buffer& from);
  void store(HbmTarget to, ThroughSram from);
  void reduce(HbmTarget to, const Buffer& from);  // the same, added to what is in HBM
  void reduce(HbmTarget to, ThroughSram from);

  // Matrix products. In all but the first, A is a tile of scores (P, dS) by query and key: a pair that may not see
  // each other adds nothing to the result, be it NaN.
  void matmul(const Buffer& to, const Buffer& a, Transposed b, double scale);             // to ← scale · A Bᵀ
  void matmul(const Buffer& to, const Buffer& a, const Buffer& b, double scale);          // to ← scale · A B
  void matmul_add(const Buffer& to, const Buffer& a, Transposed b, double scale);         // to ← to + scale · A Bᵀ
  void matmul_add(const Buffer& to, const Buffer& a, const Buffer& b, double scale = 1);  // to ← to + scale · A B
  void matmul_add(const Buffer& to, Transposed a, const Buffer& b, double scale = 1);     // to ← to + scale · Aᵀ B
  void convert(const Buffer& to, const Buffer& from, double factor = 1);  // to ← factor · from, in the element of `to`
  void transpose(const Buffer& to, const Buffer& from);                   // in SRAM; the values stay as they are
  void merge(const Buffer& sums);  // warps that hold a sum each add up, through SRAM; if there is more than one

  // S ← −∞ (or dP ← 0) where the query may not see the key.
  void mask(const Buffer& scores, float hidden = -std::numeric_limits<float>::infinity());
  void scale(const Buffer& scores, double factor);    // S ← factor · S, a pass of its own
  void dropout(const Buffer& p, const Buffer& keep);  // P ← keep ∘ P / (1 − p), keep: one byte each, p = 0 here

  // The online softmax, one paper symbol each (FA-2, Algorithm 1, lines 8–10).
  void running_max(const Buffer& m, const Buffer& scores);  // m ← max(m, rowmax S)
  void rescale_factor(const Buffer& r, const Buffer& m,
                      RowWork work = RowStatistics{}.factor);           // r ← exp(m before − m)
  void exp(const Buffer& p, const Buffer& scores, const Buffer& m);     // P ← exp(S − m)
  void running_sum(const Buffer& l, const Buffer& p);                   // l ← l + rowsum P
  void running_sum(const Buffer& l, const Buffer& r, const Buffer& p);  // l ← r · l + rowsum P
  void rescale(const Buffer& o, const Buffer& r);                       // O ← r · O
  void normalise(const Buffer& o, const Buffer& l, RowWork work = {});  // O ← O / l, and 0 where l = 0
  void log_sum_exp(const Buffer& lse, const Buffer& m, const Buffer& l, RowWork work = {});  // LSE ← m + ln l

  // The gradient of softmax (FA-1, Algorithm 4, lines 19 and 20). exp(P, S, LSE) gives its P again.
  void row_dot(const Buffer& D, const Buffer& a, const Buffer& b);  // D ← D + rowsum(A ∘ B)
  void softmax_gradient(const Buffer& dS, const Buffer& P, const Buffer& dP, const Buffer& D);  // dS ← P ∘ (dP − D)
  void dropout_gradient(const Buffer& dP, const Buffer& keep);  // dP ← keep ∘ dP / (1 − p)

 private:
  friend class Buffer;
  using Slot = Machine::Slot;

  // What only some buffers have.
  struct Special {
    std::optional<float> fill = std::nullopt;
    int stage = -1;
    WarpGrid warps = {};
    bool by_columns = false;
  };
  BufferId open(std::string_view name, Level level, TileShape shape, Element element, const Special& special);
  Bytes free_place(Bytes bytes);
  void close(BufferId id);
  Slot& slot(const Buffer& buffer) { return machine_.slots_[static_cast<std::size_t>(buffer.id())]; }
  const BufferInfo& info(const Buffer& buffer) {
    return machine_.launch().buffers[static_cast<std::size_t>(buffer.id())];
  }
  MatrixView tile(const Buffer& buffer);

  // The bytes that SRAM gives when a matmul reads the whole buffer, or an operation only what is inside the tensor.
  Bytes whole(const Buffer& buffer) {
    const Slot& held = slot(buffer);
    return held.shape.bytes(held.sram_bytes_each);
  }
  Bytes touched(const Buffer& buffer) {
    const Slot& held = slot(buffer);
    return TileShape{held.content.rows.size(), held.content.cols.size()}.bytes(held.sram_bytes_each);
  }

  // The same when it sends what the tensor has room for.
  Bytes sent(HbmTarget to, const Buffer& buffer) {
    const Slot& held = slot(buffer);
    return TileShape{held.content.rows.size(), sent_cols(to, buffer).size()}.bytes(held.sram_bytes_each);
  }

  // What a tile costs SRAM on its way to HBM.
  struct Passage {
    Bytes in, out;
  };
  Passage passage(HbmTarget to, const Buffer& buffer);
  // The row statistics of a tile whose rows lie with several warps: each writes its own and reads everyone's.
  Passage over_warps(const Buffer& tile);
  // A row statistic in SRAM, as all warps read it that share the rows of `tile`.
  Bytes of_rows(const Buffer& statistic, const Buffer& tile) { return touched(statistic) * slot(tile).warps.across; }

  void hold(const Buffer& buffer, Rows rows, Rows cols);
  Rows sent_cols(HbmTarget to, const Buffer& from);
  // What the special-function unit executes for a number of each row.
  std::int64_t special(const Buffer& rows, const RowWork& work);
  // A tile of scores as the tensor cores take it, packed to the element type, and the keys that each of its rows sees.
  struct Weights {
    Matrix packed;
    std::vector<int> visible;
  };
  Weights weights(const Buffer& scores, double scale);
  // Fills in what every event has, counts it and appends it to the run.
  void record(Op op, const Buffer& to, std::initializer_list<const Buffer*> from, Event event);
  void move_out(Op op, HbmTarget to, const Buffer& from, Passage through);
  void record_product(const Buffer& to, const Buffer& a, const Buffer& b, int depth);
  void record_product(const Buffer& to, Bytes read, const Buffer& a, const Buffer& b, int depth);

  Machine& machine_;
};

inline Buffer::~Buffer() {
  if (id_ != no_buffer) block_.close(id_);
}

template <class Body>
void Machine::in_block(Head head, Body body) {
  begin_block(head);
  Block block(*this);
  body(block);
  end_block();
}

}  // namespace fa

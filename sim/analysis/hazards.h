#pragma once
// Who waits for whom, and why. The record says which buffers an event reads and writes, and who does it; every barrier
// that a kernel has stands for one of these waits.
//
// The events of one SM are given in the order in which the program issued them: the block's, or those of several tiles
// of work that a persistent block takes one after the other. On one lane they start in that order; between lanes only
// the waits hold. Loads and matrix products are asynchronous where a launch has lanes, so a lane waits for its own too.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/record/run.h"

namespace fa {

enum class Why : signed char {
  read_after_write,   // the tile must be there before it is read
  write_after_read,   // a stage, or an SRAM place that another buffer had, must have been read to its end
  write_after_write,  // the same, if nobody read it in between; and results that add up
  turn,               // ping-pong: the products of the lane before come first
  barrier,            // every lane of the block must be there
};
std::string_view name_of(Why why);

struct Wait {
  std::int32_t event = 0;       // the one that must be done, by index into the events given
  BufferId buffer = no_buffer;  // where the two meet; none for a turn or a barrier
  Why why = Why::read_after_write;

  friend bool operator==(const Wait&, const Wait&) = default;
};

// The waits of every event, one after the other in one list.
class Waits {
 public:
  std::span<const Wait> of(std::size_t event) const {
    return std::span(list_).subspan(first_[event], first_[event + 1] - first_[event]);
  }
  std::size_t events() const { return first_.size() - 1; }

  void add(const Wait& wait) { list_.push_back(wait); }
  void close() { first_.push_back(list_.size()); }  // what was added belongs to the next event

 private:
  std::vector<Wait> list_;
  std::vector<std::size_t> first_{0};
};

// Throws SpecError, with the buffer, its stage and both events, if a tile is read before it arrives, or if waits form a
// cycle, so that no event of it could ever start.
Waits waits(const Launch& launch, std::span<const Event> events);

// "K stage 1"; "matmul 17 on consumer 2 (rows 0–63)"
std::string describe(const Launch& launch, BufferId buffer);
std::string describe(const Launch& launch, std::span<const Event> events, std::size_t event);

}  // namespace fa

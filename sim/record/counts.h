#pragma once
// What a launch, or a whole run, has moved and computed.

#include <array>
#include <cstdint>

#include "sim/record/event.h"

namespace fa {

struct TensorCounts {
  Bytes read;     // requested from HBM
  Bytes written;  // sent to HBM
  Bytes reduced;  // sent to HBM and added there to what it holds

  friend bool operator==(const TensorCounts&, const TensorCounts&) = default;
};

struct Counts {
  std::array<TensorCounts, tensor_count> tensors;
  Bytes sram_read, sram_written;
  Flops flops;
  std::int64_t exponentials = 0;
  std::int64_t special = 0;  // lanes of the special-function unit: exponentials, and whatever else it does
  std::int64_t events = 0;

  friend bool operator==(const Counts&, const Counts&) = default;

  const TensorCounts& operator[](Tensor tensor) const { return tensors[static_cast<std::size_t>(tensor)]; }
  TensorCounts& operator[](Tensor tensor) { return tensors[static_cast<std::size_t>(tensor)]; }

  Bytes read() const {
    Bytes sum;
    for (const TensorCounts& tensor : tensors) sum += tensor.read;
    return sum;
  }
  Bytes written() const {
    Bytes sum;
    for (const TensorCounts& tensor : tensors) sum += tensor.written;
    return sum;
  }
  Bytes reduced() const {
    Bytes sum;
    for (const TensorCounts& tensor : tensors) sum += tensor.reduced;
    return sum;
  }
  Bytes moved() const { return read() + written() + reduced(); }

  void add(const Event& event) {
    if (event.tensor != Tensor::none) {
      TensorCounts& tensor = (*this)[event.tensor];
      (event.op == Op::store ? tensor.written : event.op == Op::reduce ? tensor.reduced : tensor.read) += event.hbm;
    }
    sram_read += event.sram_read;
    sram_written += event.sram_written;
    flops += event.flops;
    exponentials += event.exponentials;
    special += event.special;
    ++events;
  }

  Counts& operator+=(const Counts& other) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      tensors[i].read += other.tensors[i].read;
      tensors[i].written += other.tensors[i].written;
      tensors[i].reduced += other.tensors[i].reduced;
    }
    sram_read += other.sram_read;
    sram_written += other.sram_written;
    flops += other.flops;
    exponentials = checked_add(exponentials, other.exponentials);
    special = checked_add(special, other.special);
    events = checked_add(events, other.events);
    return *this;
  }
  friend Counts operator+(Counts a, const Counts& b) { return a += b; }
};

}  // namespace fa

// Tensors in device memory as the tools need them: random, poisoned, with gaps that nobody may touch.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/tools/cuda.h"

namespace fa::kernels {

enum class Layout {
  packed,  // [batch, n, heads, d] without gaps
  gaps,    // numbers between heads, rows and batches that belong to somebody else
  far,     // packed, and batches more than 2^31 numbers apart, so that 32-bit offsets fail
};

// Standard normal numbers, scaled and shifted; rare ones several times as large. The same on every GPU.
struct Distribution {
  std::uint64_t seed = 1;
  float scale = 1.0f;
  float mean = 0.0f;
  float outliers = 0.0f;  // probability
  float outlier_scale = 8.0f;
};

// A [batch, n, heads, d] tensor with guards before and after. Poison is 0xFF in every byte: NaN in each element type.
class Tensor {
 public:
  Tensor(Element element, int batch, int n, int heads, int d, Layout layout = Layout::packed);

  const View& view() const { return view_; }
  Element element() const { return element_; }
  int batch() const { return batch_; }
  int n() const { return n_; }
  int heads() const { return heads_; }
  int d() const { return d_; }
  std::int64_t count() const { return std::int64_t{batch_} * n_ * heads_ * d_; }

  void poison();                                     // all of it, gaps and guards too
  void randomise(const Distribution& distribution);  // its numbers only
  void set(int batch, int row, int head, int col, float value);
  // From [batch, heads, n, d] on the device, rounded to the element.
  void set_from(const double* packed);
  void set_from(const float* packed);

  std::int64_t touched_gaps() const;  // bytes outside the view that are poison no more

  const DeviceBuffer& buffer() const { return buffer_; }

 private:
  template <class T>
  void set_numbers_from(const T* packed);

  Element element_;
  int batch_, n_, heads_, d_;
  View view_;
  DeviceBuffer buffer_;
};

// The scales of an e4m3 tensor. Empty: all are 1.
struct ScaleTable {
  ScaleTable() = default;
  ScaleTable(const Tensor& of, int rows);  // poisoned

  Scales scales() const { return {values.as<float>(), rows}; }
  void randomise(std::uint64_t seed);  // in [0.5, 2)

  DeviceBuffer values;
  int rows = 0;
};

// 32-bit words in which two buffers of one size differ.
std::int64_t different_words(const DeviceBuffer& a, const DeviceBuffer& b);
DeviceBuffer copy_of(const DeviceBuffer& buffer);

}  // namespace fa::kernels

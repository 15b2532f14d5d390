#include <algorithm>
#include <random>
#include <vector>

#include "kernels/tools/number.cuh"
#include "kernels/tools/tensor.h"

namespace fa::kernels {
namespace {

constexpr std::int64_t guard = 1024;  // numbers before and after the view
constexpr int poison_byte = 0xFF;

__device__ std::uint64_t scrambled(std::uint64_t z) {  // SplitMix64's finaliser
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

__global__ void randomise_numbers(Numbers to, Distribution distribution) {
  FA_GRID_LOOP(i, to.count()) {
    const std::uint64_t bits = scrambled(scrambled(distribution.seed * 0x9e3779b97f4a7c15u) +
                                         static_cast<std::uint64_t>(i) * 0xd1342543de82ef95u);
    const float u = (static_cast<float>(bits >> 40) + 1.0f) * 0x1p-24f;          // (0, 1]
    const float angle = static_cast<float>((bits >> 16) & 0xFFFFFF) * 0x1p-24f;  // [0, 1)
    const float outlier = static_cast<float>(bits & 0xFFFF) * 0x1p-16f;
    float value = sqrtf(-2.0f * logf(u)) * cospif(2.0f * angle) * distribution.scale + distribution.mean;
    if (outlier < distribution.outliers) value *= distribution.outlier_scale;
    store_number(to.view.data, to.offset(to.place(i)), to.element, value);
  }
}

template <class T>
__global__ void set_numbers(Numbers to, const T* packed) {
  FA_GRID_LOOP(i, to.count()) {
    const auto place = to.place(i);
    store_number(to.view.data, to.offset(place), to.element, static_cast<float>(packed[to.packed(place)]));
  }
}

__global__ void set_number(Numbers to, Numbers::Place place, float value) {
  store_number(to.view.data, to.offset(place), to.element, value);
}

// Bytes that are still poison: in a whole buffer, and in the numbers of a view.
__global__ void count_poison_in_buffer(const uint4* words, std::int64_t count, unsigned long long* poison_bytes) {
  unsigned long long mine = 0;
  FA_GRID_LOOP(i, count) {
    const uint4 word = words[i];
    const auto* bytes = reinterpret_cast<const unsigned char*>(&word);
    for (int b = 0; b < 16; ++b) mine += bytes[b] == poison_byte;
  }
  if (mine != 0) atomicAdd(poison_bytes, mine);
}

__global__ void count_poison_in_view(Numbers in, int bytes_each, unsigned long long* poison_bytes) {
  unsigned long long mine = 0;
  FA_GRID_LOOP(i, in.count()) {
    const auto* bytes = static_cast<const unsigned char*>(in.view.data) + in.offset(in.place(i)) * bytes_each;
    for (int b = 0; b < bytes_each; ++b) mine += bytes[b] == poison_byte;
  }
  if (mine != 0) atomicAdd(poison_bytes, mine);
}

__global__ void count_differences(const std::uint32_t* a, const std::uint32_t* b, std::int64_t count,
                                  unsigned long long* different) {
  FA_GRID_LOOP(i, count) {
    if (a[i] != b[i]) atomicAdd(different, 1ull);
  }
}

// A counter on the device, read once.
class Count {
 public:
  Count() : buffer_(sizeof(unsigned long long)) {
    must(cudaMemset(buffer_.data(), 0, buffer_.bytes()), "clearing a counter");
  }
  unsigned long long* device() const { return buffer_.as<unsigned long long>(); }
  std::int64_t value() const {
    unsigned long long host = 0;
    must(cudaGetLastError(), "launching a counting kernel");
    must(cudaMemcpy(&host, buffer_.data(), sizeof host, cudaMemcpyDeviceToHost), "reading a counter");
    return static_cast<std::int64_t>(host);
  }

 private:
  DeviceBuffer buffer_;
};

}  // namespace

Tensor::Tensor(Element element, int batch, int n, int heads, int d, Layout layout)
    : element_(element), batch_(batch), n_(n), heads_(heads), d_(d) {
  view_ = packed_view(nullptr, n, heads, d);
  if (layout == Layout::gaps) {  // odd multiples of 16 bytes, so that no two rows are aligned alike
    view_.head_stride = d + 16;
    view_.row_stride = heads * view_.head_stride + 48;
    view_.batch_stride = n * view_.row_stride + 80;
  } else if (layout == Layout::far) {
    view_.batch_stride = std::max<std::int64_t>(view_.batch_stride, (std::int64_t{1} << 31) + 64);
  }
  const std::int64_t numbers = count() == 0 ? 0
                                            : (batch - 1) * view_.batch_stride + (n - 1) * view_.row_stride +
                                                  (heads - 1) * view_.head_stride + d;
  const std::int64_t bytes = (numbers + 2 * guard) * size_of(element);
  buffer_ = DeviceBuffer(static_cast<std::size_t>((bytes + 15) / 16 * 16));
  view_.data = buffer_.as<char>() + guard * size_of(element);
  poison();
}

void Tensor::poison() { must(cudaMemset(buffer_.data(), poison_byte, buffer_.bytes()), "poisoning a tensor"); }

void Tensor::randomise(const Distribution& distribution) {
  if (count() == 0) return;
  randomise_numbers<<<loop_blocks(count()), loop_threads>>>(numbers_of(*this), distribution);
  must(cudaGetLastError(), "filling a tensor");
}

void Tensor::set(int batch, int row, int head, int col, float value) {
  set_number<<<1, 1>>>(numbers_of(*this), {batch, row, head, col}, value);
  must(cudaGetLastError(), "setting a number");
}

template <class T>
void Tensor::set_numbers_from(const T* packed) {
  if (count() == 0) return;
  set_numbers<<<loop_blocks(count()), loop_threads>>>(numbers_of(*this), packed);
  must(cudaGetLastError(), "filling a tensor");
}
void Tensor::set_from(const double* packed) { set_numbers_from(packed); }
void Tensor::set_from(const float* packed) { set_numbers_from(packed); }

std::int64_t Tensor::touched_gaps() const {
  const Count poison_everywhere, poison_in_view;
  const auto words = static_cast<std::int64_t>(buffer_.bytes() / 16);
  count_poison_in_buffer<<<loop_blocks(words), loop_threads>>>(buffer_.as<uint4>(), words, poison_everywhere.device());
  if (count() != 0)
    count_poison_in_view<<<loop_blocks(count()), loop_threads>>>(numbers_of(*this), size_of(element_),
                                                                 poison_in_view.device());
  const auto gap_bytes = static_cast<std::int64_t>(buffer_.bytes()) - count() * size_of(element_);
  return gap_bytes - (poison_everywhere.value() - poison_in_view.value());
}

ScaleTable::ScaleTable(const Tensor& of, int rows)
    : values(static_cast<std::size_t>(std::int64_t{of.batch()} * of.heads() * ((of.n() + rows - 1) / rows)) *
             sizeof(float)),
      rows(rows) {
  must(cudaMemset(values.data(), poison_byte, values.bytes()), "poisoning scales");
}

void ScaleTable::randomise(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::vector<float> host(values.bytes() / sizeof(float));
  for (float& value : host) value = 0.5f + 1.5f * static_cast<float>(random() >> 8) * 0x1p-24f;
  must(cudaMemcpy(values.data(), host.data(), values.bytes(), cudaMemcpyHostToDevice), "filling scales");
}

std::int64_t different_words(const DeviceBuffer& a, const DeviceBuffer& b) {
  const Count different;
  const auto words = static_cast<std::int64_t>(std::min(a.bytes(), b.bytes()) / 4);
  if (words != 0)
    count_differences<<<loop_blocks(words), loop_threads>>>(a.as<std::uint32_t>(), b.as<std::uint32_t>(), words,
                                                            different.device());
  return different.value();
}

DeviceBuffer copy_of(const DeviceBuffer& buffer) {
  DeviceBuffer copy(buffer.bytes());
  must(cudaMemcpy(copy.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToDevice), "copying a tensor");
  return copy;
}

}  // namespace fa::kernels

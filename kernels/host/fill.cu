#include "kernels/host/cuda.h"
#include "kernels/host/fill.h"

namespace fa::kernels {
namespace {

// Rows are whole multiples of 8 numbers, so of 16 bytes (8 in e4m3): one thread writes 8 bytes.
__global__ void zero_rows(View view, int n, int heads, int words_each, int bytes_each, std::int64_t words) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < words;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const std::int64_t row = i / words_each;
    const std::int64_t head = row % heads, query = row / heads % n, batch = row / heads / n;
    const std::int64_t offset = batch * view.batch_stride + query * view.row_stride + head * view.head_stride;
    reinterpret_cast<std::uint64_t*>(static_cast<char*>(view.data) + offset * bytes_each)[i % words_each] = 0;
  }
}

__global__ void fill_values(float* values, std::int64_t count, float value) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x)
    values[i] = value;
}

constexpr int threads = 256;
int blocks_for(std::int64_t items) {
  return static_cast<int>(std::min<std::int64_t>((items + threads - 1) / threads, 65535));
}

}  // namespace

void fill_zero(const View& view, int batch, int n, int heads, int row_bytes, int bytes_each, Stream stream) {
  const int words_each = row_bytes / 8;
  const std::int64_t words = std::int64_t{batch} * n * heads * words_each;
  if (words == 0) return;
  zero_rows<<<blocks_for(words), threads, 0, stream>>>(view, n, heads, words_each, bytes_each, words);
  check(cudaGetLastError(), "filling a tensor with zeros");
}

void fill(float* values, std::int64_t count, float value, Stream stream) {
  if (count == 0) return;
  fill_values<<<blocks_for(count), threads, 0, stream>>>(values, count, value);
  check(cudaGetLastError(), "filling an array");
}

}  // namespace fa::kernels

#include "kernels/host/tensor_map.h"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels/host/cuda.h"

namespace fa::kernels {
namespace {

// The driver's function, by name: so the program needs no driver library to link, and starts on machines without one.
decltype(&cuTensorMapEncodeTiled) encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
        "looking for cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess)
    throw std::runtime_error(
        "the CUDA driver has no cuTensorMapEncodeTiled: flash3 needs a driver for CUDA 12 or newer");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

CUtensorMapDataType type_of(Element element) {
  switch (element) {
    case Element::fp16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Element::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Element::e4m3: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case Element::fp32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Element::byte: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
  throw std::invalid_argument("no tensor map for this element type");
}

}  // namespace

CUtensorMap tensor_map(const View& view, Element element, std::int64_t batch, std::int64_t n, std::int64_t heads,
                       std::int64_t d, int box_rows) {
  static const auto encode = encoder();
  const int size = size_of(element);
  // An axis of one is never stepped along; its stride may be anything, and the encoder wants a multiple of 16.
  const auto stride = [&](std::int64_t extent, std::int64_t numbers) {
    return static_cast<cuuint64_t>(extent == 1 ? 16 : numbers * size);
  };
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(d), static_cast<cuuint64_t>(n), static_cast<cuuint64_t>(heads),
                                static_cast<cuuint64_t>(batch)};
  const cuuint64_t strides[] = {stride(n, view.row_stride), stride(heads, view.head_stride),
                                stride(batch, view.batch_stride)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / size), static_cast<cuuint32_t>(box_rows), 1, 1};
  const cuuint32_t every_element[] = {1, 1, 1, 1};
  CUtensorMap map{};
  const CUresult result =
      encode(&map, type_of(element), 4, view.data, extents, strides, box, every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(
        fmt::format("CUDA refused a tensor map of [{}, {}, {}, {}] with strides {}, {} and {} bytes (error {})", batch,
                    n, heads, d, strides[2], strides[0], strides[1], static_cast<int>(result)));
  return map;
}

TensorMaps tensor_maps(const Args& args, int rows_q, int rows_kv, int o_rows) {
  const Problem& p = args.problem;
  return {.q = tensor_map(args.q, p.element, p.batch, p.n_q, p.heads, p.d, rows_q),
          .k = tensor_map(args.k, p.element, p.batch, p.n_kv, p.kv_heads, p.d, rows_kv),
          .v = tensor_map(args.v, p.element, p.batch, p.n_kv, p.kv_heads, p.d, rows_kv),
          .o = tensor_map(args.o, output_element(p.element), p.batch, p.n_q, p.heads, p.d, o_rows)};
}

}  // namespace fa::kernels

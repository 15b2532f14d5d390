// Where naive attention keeps S, P, dP and dS: n_q × n_kv numbers for every head, in HBM.
#pragma once

#include "kernels/device/launch.h"
#include "kernels/naive/product.cuh"

namespace fa::kernels {

template <class Number>
struct ScoresSpace {
  std::int64_t row_stride;  // n_kv, up to whole sectors of 32 bytes
  std::int64_t head_stride;
  Number* first;   // S, which becomes P
  Number* second;  // backward only: dP, which becomes dS

  __host__ __device__ explicit ScoresSpace(const Args& args)
      : row_stride((args.problem.n_kv + 15) / 16 * 16),
        head_stride(row_stride * args.problem.n_q),
        first(static_cast<Number*>(args.workspace)),
        second(first + head_stride * args.problem.batch * args.problem.heads) {}
  static std::size_t bytes(const Problem& problem, int matrices) {
    const std::int64_t row_stride = (problem.n_kv + 15) / 16 * 16;
    return sizeof(Number) * row_stride * problem.n_q * problem.heads_total() * matrices;
  }
};

// Rows of n × columns numbers from (row, column) on.
template <class Number>
__device__ __forceinline__ Matrix<Number> part_of(const Number* data, std::int64_t row_stride, int rows, int columns,
                                                  int row, int column) {
  return {data + row * row_stride + column, row_stride, rows - row, columns - column};
}

inline int blocks(int n, int each) { return (n + each - 1) / each; }

}  // namespace fa::kernels

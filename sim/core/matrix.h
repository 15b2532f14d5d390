#pragma once
// Matrix owns its floats, row-major; MatrixView looks at a block of somebody's rows.

#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/core/tiles.h"

namespace fa {

// rows × cols floats, `stride` floats from one row to the next. T is float or const float.
template <class T>
class BasicMatrixView {
 public:
  constexpr BasicMatrixView() = default;
  constexpr BasicMatrixView(T* data, int rows, int cols, std::ptrdiff_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
  template <class U>
  constexpr BasicMatrixView(const BasicMatrixView<U>& other)  // NOLINT: a mutable view is a const view
      : data_(other.data()), rows_(other.rows()), cols_(other.cols()), stride_(other.stride()) {}

  constexpr T* data() const { return data_; }
  constexpr int rows() const { return rows_; }
  constexpr int cols() const { return cols_; }
  constexpr std::ptrdiff_t stride() const { return stride_; }
  constexpr bool empty() const { return rows_ == 0 || cols_ == 0; }

  T& at(int row, int col) const {
    assert(0 <= row && row < rows_ && 0 <= col && col < cols_);
    return data_[row * stride_ + col];
  }
  std::span<T> row(int index) const {
    assert(0 <= index && index < rows_);
    return {data_ + index * stride_, static_cast<std::size_t>(cols_)};
  }
  BasicMatrixView block(Rows rows, Rows cols) const {
    assert(0 <= rows.begin && rows.end <= rows_ && 0 <= cols.begin && cols.end <= cols_);
    return {data_ + rows.begin * stride_ + cols.begin, rows.size(), cols.size(), stride_};
  }
  BasicMatrixView rows_of(Rows rows) const { return block(rows, {0, cols_}); }

 private:
  T* data_ = nullptr;
  int rows_ = 0, cols_ = 0;
  std::ptrdiff_t stride_ = 0;
};

using MatrixView = BasicMatrixView<float>;
using ConstMatrixView = BasicMatrixView<const float>;

class Matrix {
 public:
  Matrix() = default;
  Matrix(int rows, int cols, float value = 0.0f)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), value) {}

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  std::span<float> values() { return values_; }
  std::span<const float> values() const { return values_; }
  float& at(int row, int col) { return view().at(row, col); }
  float at(int row, int col) const { return view().at(row, col); }

  MatrixView view() { return {values_.data(), rows_, cols_, cols_}; }
  ConstMatrixView view() const { return {values_.data(), rows_, cols_, cols_}; }

 private:
  int rows_ = 0, cols_ = 0;
  std::vector<float> values_;
};

}  // namespace fa

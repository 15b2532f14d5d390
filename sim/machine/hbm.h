#pragma once
// Tensors in HBM: what a program can load from and store to.

#include <utility>
#include <vector>

#include "sim/config/problem.h"
#include "sim/config/tiling.h"
#include "sim/core/matrix.h"
#include "sim/record/tensor.h"

namespace fa {

// heads × rows × cols numbers. Holds values only in a run that computes them.
class HbmTensor {
 public:
  HbmTensor() = default;
  HbmTensor(Tensor id, Head heads, int rows, int cols, Element element)
      : id_(id), heads_(heads), rows_(rows), cols_(cols), element_(element) {}

  Tensor id() const { return id_; }
  Head heads() const { return heads_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  Element element() const { return element_; }
  Bytes bytes(TileShape tile) const { return tile.bytes(size_of(element_)); }
  explicit operator bool() const { return id_ != Tensor::none; }

  // A tensor in 8 bits keeps a scale for every `rows` rows of a head: value = scale · stored. They are few, and travel
  // with the kernel's arguments.
  void set_scales(int rows, std::vector<std::vector<float>> scales) {
    scaled_rows_ = rows, scales_ = std::move(scales);
  }
  double scale(Head head, Rows rows) const {
    if (scales_.empty() || rows.empty()) return 1.0;
    return scales_[static_cast<std::size_t>(head)][static_cast<std::size_t>(rows.begin / scaled_rows_)];
  }

  void allocate_values() { values_.resize(static_cast<std::size_t>(heads_), Matrix(rows_, cols_)); }
  Matrix& values(Head head) { return values_.at(static_cast<std::size_t>(head)); }
  const Matrix& values(Head head) const { return values_.at(static_cast<std::size_t>(head)); }

 private:
  Tensor id_ = Tensor::none;
  Head heads_ = 0;
  int rows_ = 0, cols_ = 0;
  Element element_ = Element::fp32;
  std::vector<Matrix> values_;
  int scaled_rows_ = 1;
  std::vector<std::vector<float>> scales_;  // by head
};

// One head of a tensor: the operand of load and store.
struct HbmSource {
  const HbmTensor* tensor;
  Head head;

  double scale(Rows rows) const { return tensor->scale(head, rows); }
};
struct HbmTarget {
  HbmTensor* tensor;
  Head head;
  operator HbmSource() const { return {tensor, head}; }  // NOLINT: what can be written can be read
};

// What a program gets, and what it leaves. Accessors take a query head; K and V follow grouped-query attention.
struct Inputs {
  Problem problem;
  HbmTensor Q, K, V;

  HbmSource q(Head h) const { return {&Q, h}; }
  HbmSource k(Head h) const { return {&K, problem.kv_head_of(h)}; }
  HbmSource v(Head h) const { return {&V, problem.kv_head_of(h)}; }
};

struct Output {
  HbmTensor O;    // [n_q, d] per head
  HbmTensor LSE;  // [n_q, 1]; flash1 leaves m and l instead, as its paper does
  HbmTensor m, l;
  HbmTensor P, keep;  // [n_q, n_kv]; of programs that keep them for their backward

  HbmTarget o(Head h) { return {&O, h}; }
  HbmTarget lse(Head h) { return {&LSE, h}; }

  // Those that the program has left.
  std::vector<const HbmTensor*> tensors() const {
    std::vector<const HbmTensor*> left;
    for (const HbmTensor* tensor : {&O, &LSE, &m, &l, &P, &keep})
      if (*tensor) left.push_back(tensor);
    return left;
  }
};

// What a backward gets: the operands, dO, and what its forward left.
struct BackwardInputs : Inputs {
  HbmTensor dO;
  Output forward;

  HbmSource d_o(Head h) const { return {&dO, h}; }
  HbmSource o(Head h) const { return {&forward.O, h}; }
  HbmSource lse(Head h) const { return {&forward.LSE, h}; }
};

struct Gradients {
  Problem problem;
  HbmTensor dQ;      // [n_q, d] per query head
  HbmTensor dK, dV;  // [n_kv, d] per key head: the sum over the query heads that share it

  HbmTarget d_q(Head h) { return {&dQ, h}; }
  HbmTarget d_k(Head h) { return {&dK, problem.kv_head_of(h)}; }
  HbmTarget d_v(Head h) { return {&dV, problem.kv_head_of(h)}; }
};

}  // namespace fa

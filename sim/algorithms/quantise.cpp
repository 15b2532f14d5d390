#include "sim/algorithms/quantise.h"

#include <algorithm>
#include <cmath>

#include "sim/core/element.h"
#include "sim/core/rotation.h"

namespace fa {
namespace {

constexpr float largest_e4m3 = 448.0f;

// x ← x H / √n for a row of n numbers, n a power of two.
void hadamard(std::span<float> x) {
  for (std::size_t half = 1; half < x.size(); half *= 2)
    for (std::size_t begin = 0; begin < x.size(); begin += 2 * half)
      for (std::size_t i = begin; i < begin + half; ++i) {
        const float a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
  const float norm = 1.0f / std::sqrt(static_cast<float>(x.size()));
  for (float& value : x) value *= norm;
}

}  // namespace

Quantised quantise(const std::vector<Matrix>& heads, int rows) {
  Quantised result{heads, {}, rows};
  for (Matrix& head : result.stored) {
    std::vector<float>& scales = result.scales.emplace_back();
    for (Rows tile : cut(head.rows(), rows)) {
      float largest = 0;  // of the numbers that are finite: the others stay what they are under any scale
      for (int r = tile.begin; r < tile.end; ++r)
        for (float value : head.view().row(r))
          if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
      const float scale = largest > 0 ? largest / largest_e4m3 : 1.0f;
      scales.push_back(scale);
      for (int r = tile.begin; r < tile.end; ++r) {
        for (float& value : head.view().row(r)) value /= scale;
        round_all(Element::e4m3, head.view().row(r));
      }
    }
  }
  return result;
}

std::vector<Matrix> dequantised(const Quantised& quantised) {
  std::vector<Matrix> heads = quantised.stored;
  for (std::size_t head = 0; head < heads.size(); ++head)
    for (int r = 0; r < heads[head].rows(); ++r)
      for (float& value : heads[head].view().row(r))
        value *= quantised.scales[head][static_cast<std::size_t>(r / quantised.rows)];
  return heads;
}

std::vector<Matrix> rotated(const std::vector<Matrix>& heads) {
  std::vector<Matrix> result = heads;
  if (heads.empty()) return result;
  const auto d = static_cast<std::size_t>(heads.front().cols());
  const auto part = static_cast<std::size_t>(rotation_part(heads.front().cols()));
  const auto negative = rotation_signs();
  for (Matrix& head : result)
    for (int r = 0; r < head.rows(); ++r) {
      const std::span<float> row = head.view().row(r);
      for (std::size_t c = 0; c < d; ++c) row[c] *= negative[c % negative.size()] ? -1.0f : 1.0f;
      for (std::size_t begin = 0; begin < d; begin += part) hadamard(row.subspan(begin, part));
    }
  return result;
}

}  // namespace fa

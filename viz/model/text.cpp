#include "viz/model/text.h"

#include <fmt/format.h>

#include <cmath>

namespace fa::viz {
namespace {

constexpr std::string_view thin_space = "\u2009";
constexpr std::string_view minus = "−";

// Four digits at most before the unit changes, one decimal below ten and a hundred.
std::string scaled(double value, std::string_view unit) {
  if (value >= 999.5) return thousands(static_cast<std::int64_t>(std::llround(value))) + std::string(unit);
  return fmt::format("{:.{}f}{}", value, value >= 99.95 ? 0 : 1, unit);
}

}  // namespace

std::string thousands(std::int64_t count) {
  std::string digits = std::to_string(count < 0 ? -count : count), text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += thin_space;
    text += digits[i];
  }
  return (count < 0 ? std::string(minus) : std::string()) + text;
}

std::string bytes_text(Bytes bytes) {
  const auto value = static_cast<double>(bytes.count());
  if (value < 1024) return std::to_string(bytes.count()) + " B";
  if (value < 9999.5 * 1024) return scaled(value / 1024, " KiB");
  if (value < 9999.5 * 1024 * 1024) return scaled(value / 1024 / 1024, " MiB");
  return scaled(value / 1024 / 1024 / 1024, " GiB");
}

std::string count_text(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 10'000) return thousands(count);
  if (value < 1e7) return scaled(value / 1e3, " k");
  if (value < 1e10) return scaled(value / 1e6, " M");
  return scaled(value / 1e9, " G");
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  const double size = std::fabs(value);
  std::string text;
  if (std::isinf(size)) {
    text = "∞";
  } else if (size == 0) {
    text = "0";
  } else if (size < 0.001 || size >= 1e6) {
    text = fmt::format("{:.1e}", size);
  } else {
    text = fmt::format("{:.{}f}", size, size < 1 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  }
  return value < 0 ? std::string(minus) + text : text;
}

std::string subscript(std::int64_t index) {
  constexpr const char* digits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string text;
  for (char c : std::to_string(index)) text += c == '-' ? "₋" : digits[c - '0'];
  return text;
}

std::string rows_text(Rows rows) {
  return rows.size() == 1 ? std::to_string(rows.begin) : fmt::format("{}–{}", rows.begin, rows.end - 1);
}

std::string tile_name(Tensor tensor, Rows rows, Rows cols, const Tiling& tiling) {
  const bool keys = tensor == Tensor::K || tensor == Tensor::V;
  std::string name = std::string(name_of(tensor)) + subscript(rows.begin / (keys ? tiling.rows_kv : tiling.rows_q));
  const bool scores = tensor == Tensor::S || tensor == Tensor::P || tensor == Tensor::keep;
  return scores ? name + "," + subscript(cols.begin / tiling.rows_kv) : name;
}

}  // namespace fa::viz

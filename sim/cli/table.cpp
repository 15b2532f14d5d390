#include "sim/cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fa::cli {
namespace {

// Characters of UTF-8 text: every byte that does not continue one.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string scaled(double value, double step, const std::array<std::string_view, 6>& units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) value /= step, ++unit;
  return unit == 0 ? fmt::format("{:.0f} {}", value, units[0])
                   : fmt::format("{:.{}f} {}", value,
                                 value < 10    ? 2
                                 : value < 100 ? 1
                                               : 0,
                                 units[unit]);
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths.resize(std::max(widths.size(), row.size()));
      widths[c] = std::max(widths[c], width(row[c]));
    }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line.append(2 + widths[c] - width(row[c]), ' ');
      line += row[c];
      if (c == 0) line.append(widths[c] - width(row[c]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string human(Bytes bytes) {
  return scaled(static_cast<double>(bytes.count()), 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string human(Flops flops) {
  return scaled(static_cast<double>(flops.count()), 1000, {"flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop"});
}

std::string human_count(double count) {
  std::string text = scaled(count, 1000, {"", "k", "M", "G", "T", "P"});
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string with_separators(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') text += ' ';
    text += digits[i];
  }
  return text;
}

}  // namespace fa::cli

#pragma once
// Text for people: aligned columns, and numbers with units.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sim.h"

namespace fa::cli {

// Columns as wide as their widest cell; the first is aligned left, the rest right. Widths count characters, not bytes.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string human(Bytes bytes);             // "1.50 MiB"; whole bytes below 1 KiB
std::string human(Flops flops);             // "4.29 Gflop", powers of 1000
std::string human_count(double count);      // "1.05 M", powers of 1000
std::string with_separators(std::int64_t);  // "1 048 576"

}  // namespace fa::cli

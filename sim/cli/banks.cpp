// fasim banks: what a tile's layout in shared memory costs, instruction by instruction.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/cli/commands.h"
#include "sim/cli/table.h"
#include "sim/sim.h"

namespace fa::cli {
namespace {

// The entry of a list of names; an InputError names the option and what there is.
template <class Value, std::size_t count>
Value named(std::string_view option, const std::string& name, const std::array<std::string_view, count>& names) {
  std::string known;
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == name) return static_cast<Value>(i);
    known += (known.empty() ? "" : ", ") + std::string(names[i]);
  }
  throw InputError(fmt::format("{} {} is not known; choose one of {}.", option, name, known));
}

struct Row {
  TileLayout layout;
  TileAccess access;
  BankUse use;

  double of_instruction(std::int64_t wavefronts) const {
    return static_cast<double>(wavefronts) / static_cast<double>(use.instructions);
  }
};

// The layouts asked for: one, or rows side by side and what a kernel would rather do.
std::vector<TileLayout> layouts(const Arguments& a, int rows, int row_bytes) {
  if (!a.swizzle.empty() || a.pad)
    return {{rows, row_bytes, a.swizzle.empty() ? Swizzle::none : named<Swizzle>("--swizzle", a.swizzle, swizzle_names),
             a.pad.value_or(0)}};
  std::vector<TileLayout> result{{rows, row_bytes}, {rows, row_bytes, Swizzle::none, chunk_bytes}};
  if (usual_layout(rows, row_bytes).swizzle != Swizzle::none) result.push_back(usual_layout(rows, row_bytes));
  return result;
}

std::string describe(const TileLayout& layout) {
  if (layout.swizzle != Swizzle::none) return fmt::format("swizzle {}", name_of(layout.swizzle));
  return layout.pad_bytes == 0 ? "rows side by side" : fmt::format("{} bytes between rows", layout.pad_bytes);
}

void print_json(const std::string& element, int d, const std::vector<Row>& rows) {
  nlohmann::ordered_json json{{"element", element}, {"d", d}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    json["rows"].push_back({{"rows", row.layout.rows},
                            {"row_bytes", row.layout.row_bytes},
                            {"swizzle", name_of(row.layout.swizzle)},
                            {"pad_bytes", row.layout.pad_bytes},
                            {"access", name_of(row.access)},
                            {"instructions", row.use.instructions},
                            {"wavefronts", row.use.wavefronts},
                            {"least_wavefronts", row.use.least},
                            {"wavefronts_per_instruction", row.of_instruction(row.use.wavefronts)},
                            {"worst_ways", row.use.worst},
                            {"worst_words_by_bank", row.use.worst_words}});
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void banks(const Arguments& a) {
  const auto element = element_named(a.element);
  if (!element) throw InputError(fmt::format("--element {} is not known; choose fp32, fp16, bf16 or e4m3.", a.element));
  const int d = a.d.value_or(128), tile_rows = a.rows.value_or(64);
  if (d < 1 || d > 1 << 12) throw InputError(fmt::format("--d must be between 1 and {}, not {}.", 1 << 12, d));
  if (tile_rows < 1 || tile_rows > 1 << 12)
    throw InputError(fmt::format("--rows must be between 1 and {}, not {}.", 1 << 12, tile_rows));
  std::vector<TileAccess> accesses;
  if (a.access.empty())
    for (std::size_t i = 0; i < access_names.size(); ++i) accesses.push_back(static_cast<TileAccess>(i));
  else
    accesses = {named<TileAccess>("--access", a.access, access_names)};

  std::vector<Row> rows;
  std::string why;
  for (const TileLayout& layout : layouts(a, tile_rows, d * size_of(*element)))
    for (TileAccess access : accesses) {
      if (const auto invalid = why_invalid(layout, access))
        why = *invalid;
      else
        rows.push_back({layout, access, bank_use(layout, access)});
    }
  if (rows.empty()) throw SpecError(why);
  if (a.json) return print_json(a.element, d, rows);

  fmt::print("A tile of {} rows of {} {} numbers, {} bytes each row; {} banks of {} bytes\n\n", tile_rows, d, a.element,
             d * size_of(*element), bank_count, bank_bytes);
  Table table(
      {"layout", "access", "wavefronts an instruction", "at best", "worst conflict", "for the tile", "at best"});
  for (const Row& row : rows)
    table.add({describe(row.layout), std::string(name_of(row.access)),
               fmt::format("{:.2f}", row.of_instruction(row.use.wavefronts)),
               fmt::format("{:.2f}", row.of_instruction(row.use.least)),
               row.use.worst == 1 ? "none" : fmt::format("{}-way", row.use.worst), std::to_string(row.use.wavefronts),
               std::to_string(row.use.least)});
  fmt::print("{}", table.text());
  if (rows.size() > 1) return;
  fmt::print("\nwords that each bank gives in the worst phase of an instruction, banks 0 to {}:\n ", bank_count - 1);
  for (int words : rows.front().use.worst_words) fmt::print(" {}", words);
  fmt::print("\n");
}

}  // namespace fa::cli

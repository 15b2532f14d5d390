#include "viz/model/specs.h"

#include <fmt/format.h>

#include <utility>

#include "viz/model/text.h"

namespace fa::viz {
namespace {

constexpr std::int64_t most_tiles = 4000;
constexpr std::int64_t most_values = 24'000'000;  // floats that all events of a run leave, about 100 MB

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::string for_screen(std::string sentence) {
  constexpr std::pair<const char*, const char*> words[] = {
      {"--rows-q", "Br"},         {"--rows-kv", "Bc"},  {"--n-q", "n_q"}, {"--n-kv", "n_kv"},
      {"--kv-heads", "kv heads"}, {"--heads", "heads"}, {"--d ", "d "},   {"--element", "element"},
      {"--hardware", "GPU"},      {"--head ", "head "}, {" (or --n)", ""}};
  // "--rows-kv" does not contain "--rows-q", nor "--n-kv" "--n-q"; so the order does not matter.
  for (const auto& [option, word] : words) replace(sentence, option, word);
  return sentence;
}

std::string why_too_large(const Problem& p, const Tiling& t) {
  const std::int64_t tiles =
      checked_multiply(p.heads_total(), checked_multiply(ceil_div(p.n_q, t.rows_q), ceil_div(p.n_kv, t.rows_kv)));
  if (tiles > most_tiles)
    return fmt::format(
        "{} tiles are more than can be stepped through ({}): use larger --rows-q, --rows-kv or a smaller --n-q.",
        thousands(tiles), thousands(most_tiles));
  const std::int64_t rows = std::min(p.n_q, t.rows_q), keys = std::min(p.n_kv, t.rows_kv);
  const std::int64_t values = checked_multiply(tiles, 6 * rows * keys + 4 * rows * p.d + 4 * keys * p.d);
  if (values > most_values)
    return fmt::format("{} values are more than can be kept for stepping ({}): use a smaller --n-q or --heads.",
                       thousands(values), thousands(most_values));
  return {};
}

}  // namespace fa::viz

#include "sim/config/check.h"

#include <fmt/format.h>

namespace fa {
namespace {

constexpr int largest_n = 1 << 30;
constexpr int largest_d = 1 << 12;
constexpr int largest_heads = 1 << 20;
constexpr int largest_consumers = 15;  // warpgroups, with the producer: 2048 threads
constexpr int largest_stages = 64;

std::optional<std::string> outside(std::string_view option, int value, int largest) {
  if (1 <= value && value <= largest) return std::nullopt;
  return fmt::format("{} must be between 1 and {}, not {}.", option, largest, value);
}

}  // namespace

std::optional<std::string> why_invalid(const Problem& p) {
  if (auto why = outside("--n-q (or --n)", p.n_q, largest_n)) return why;
  if (auto why = outside("--n-kv (or --n)", p.n_kv, largest_n)) return why;
  if (auto why = outside("--d", p.d, largest_d)) return why;
  if (auto why = outside("--batch", p.batch, largest_heads)) return why;
  if (auto why = outside("--heads", p.heads, largest_heads)) return why;
  if (auto why = outside("--kv-heads", p.kv_heads, largest_heads)) return why;
  if (p.heads % p.kv_heads != 0)
    return fmt::format("--heads must be a multiple of --kv-heads: {} is not a multiple of {}.", p.heads, p.kv_heads);
  return std::nullopt;
}

std::optional<std::string> why_invalid(const Problem& p, const Tiling& t, const Hardware& hardware) {
  if (auto why = why_invalid(p)) return why;
  if (auto why = outside("--rows-q", t.rows_q, largest_n)) return why;
  if (auto why = outside("--rows-kv", t.rows_kv, largest_n)) return why;
  if (auto why = outside("the tiling's number of consumers", t.consumers, largest_consumers)) return why;
  if (auto why = outside("the tiling's number of stages", t.stages, largest_stages)) return why;
  if (hardware.sram_per_block <= Bytes(0))
    return fmt::format("--hardware {} has no SRAM: sram_per_block_bytes must be positive.", hardware.id);
  return std::nullopt;
}

}  // namespace fa

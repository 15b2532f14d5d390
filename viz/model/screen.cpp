#include "viz/model/screen.h"

namespace fa::viz {

std::int64_t paired_step(const Outline& first, std::int64_t step, const Outline& beside, Pairing pairing) {
  if (step <= 0 || first.events() == 0 || beside.events() == 0) return 0;
  if (pairing == Pairing::proportion && step >= first.events()) return beside.events();
  if (pairing == Pairing::proportion)
    return static_cast<std::int64_t>(
        static_cast<double>(step) * static_cast<double>(beside.events()) / static_cast<double>(first.events()) + 0.5);
  // Tile for tile: as far into its tile as the first is into its own.
  const auto index = static_cast<std::size_t>(first.tile_of[static_cast<std::size_t>(step - 1)]);
  if (index >= beside.tiles.size()) return beside.events();
  const TileSpan &mine = first.tiles[index], &other = beside.tiles[index];
  return other.first + ceil_div((step - mine.first) * (other.last - other.first), mine.last - mine.first);
}

}  // namespace fa::viz

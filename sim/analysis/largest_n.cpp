#include "sim/analysis/largest_n.h"

#include <algorithm>

namespace fa {

int largest_n(const std::function<Bytes(int n)>& footprint, Bytes memory, int limit) {
  const auto fits = [&](int n) { return footprint(n) <= memory; };
  int good = 0, bad = 1;  // doubling first: a footprint far beyond the memory might not fit in 64 bits
  while (bad < limit && fits(bad)) {
    good = bad;
    bad = std::min(limit, 2 * bad);
  }
  if (bad == limit && fits(limit)) return limit;
  while (bad - good > 1) {
    const int middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace fa

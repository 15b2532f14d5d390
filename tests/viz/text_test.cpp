#include <cmath>

#include "tests/catch.h"
#include "viz/model/specs.h"
#include "viz/model/text.h"

using namespace fa;
using namespace fa::viz;

TEST_CASE("bytes carry the unit that keeps them short", "[viz]") {
  CHECK(bytes_text(Bytes(0)) == "0 B");
  CHECK(bytes_text(Bytes(768)) == "768 B");
  CHECK(bytes_text(Bytes(1024)) == "1.0 KiB");
  CHECK(bytes_text(Bytes(227 * 1024)) == "227 KiB");
  CHECK(bytes_text(Bytes(std::int64_t{2172} << 20)) == "2\u2009172 MiB");
  CHECK(bytes_text(Bytes(std::int64_t{141} << 30)) == "141 GiB");
}

TEST_CASE("numbers show three digits that count, with a real minus and infinity", "[viz]") {
  CHECK(number(2.314) == "2.31");
  CHECK(number(0.2894) == "0.289");
  CHECK(number(-12.345) == "−12.3");
  CHECK(number(0) == "0");
  CHECK(number(-INFINITY) == "−∞");
  CHECK(number(NAN) == "NaN");
  CHECK(number(1e-5) == "1.0e-05");
  CHECK(thousands(-1234567) == "−1\u2009234\u2009567");
}

TEST_CASE("tiles are named by the letter and the number of the tile", "[viz]") {
  const Tiling tiling{.rows_q = 4, .rows_kv = 8};
  CHECK(tile_name(Tensor::Q, {8, 12}, {0, 64}, tiling) == "Q₂");
  CHECK(tile_name(Tensor::V, {8, 16}, {0, 64}, tiling) == "V₁");
  CHECK(tile_name(Tensor::S, {8, 12}, {80, 88}, tiling) == "S₂,₁₀");
}

TEST_CASE("objections speak of Br and Bc on screen", "[viz]") {
  CHECK(for_screen("use fewer --rows-q or --rows-kv.") == "use fewer Br or Bc.");
  CHECK(for_screen("--heads must be a multiple of --kv-heads: 3.") == "heads must be a multiple of kv heads: 3.");
}

TEST_CASE("what is too large to step through is refused in a sentence, and the limit itself is not", "[viz]") {
  Problem problem;
  problem.n_q = 200;
  problem.n_kv = 160;
  problem.d = 8;
  const Tiling fits{.rows_q = 4, .rows_kv = 2};  // 50 × 80 = 4000 tiles
  CHECK(why_too_large(problem, fits).empty());
  problem.n_q = 201;
  CHECK(why_too_large(problem, fits).find("4\u2009080 tiles") == 0);
}

#include "viz/model/softmax_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "viz/model/history.h"
#include "viz/model/text.h"

namespace fa::viz {
namespace {

constexpr std::string_view to_come = "…";

bool holds_row(Rows rows, int row) { return rows.begin <= row && row < rows.end; }

// The events of a tile that a row's softmax is made of; −1 where it has none.
struct Parts {
  std::int64_t scores = -1, max = -1, factor = -1, exp = -1, sum = -1, rescale = -1, product = -1, normalise = -1;
};

Parts parts_of(const Run& run, const TileSpan& tile, int row) {
  Parts parts;
  for (std::int64_t k = tile.first; k < tile.last; ++k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    if (!holds_row(event.rows, row)) continue;  // of the warpgroup beside
    const bool scores = is_scores(run, event.launch, event.to);
    switch (event.op) {
      case Op::running_max: parts.max = k; break;
      case Op::rescale_factor: parts.factor = k; break;
      case Op::exp: parts.exp = k; break;
      case Op::running_sum: parts.sum = k; break;
      case Op::normalise:
        if (!scores) parts.normalise = k;
        break;
      case Op::rescale:
        if (parts.factor >= 0) parts.rescale = k;  // FA-1 also rescales by l, before there is a factor
        break;
      case Op::matmul: (scores ? parts.scores : parts.product) = k; break;
      case Op::load:
      case Op::scale:
      case Op::mask:
        if (scores) parts.scores = k;
        break;
      default: break;
    }
  }
  return parts;
}

// What a buffer had for the row when event `k` was about to change it.
std::optional<double> before(const Run& run, std::int64_t k, int row) {
  if (k < 0) return std::nullopt;
  const BufferId id = run.events[static_cast<std::size_t>(k)].to;
  const std::vector<float> values = row_after(run, last_set(run, k, id), id, row);
  return values.empty() ? std::nullopt : std::optional<double>(values.front());
}
std::vector<float> row_before(const Run& run, std::int64_t k, int row) {
  if (k < 0) return {};
  const BufferId id = run.events[static_cast<std::size_t>(k)].to;
  return row_after(run, last_set(run, k, id), id, row);
}
std::vector<float> row_of(const Run& run, std::int64_t k, std::int64_t step, int row) {
  if (k < 0 || k >= step) return {};
  return row_after(run, k, run.events[static_cast<std::size_t>(k)].to, row);
}
std::optional<double> value_of(const Run& run, std::int64_t k, std::int64_t step, int row) {
  const std::vector<float> values = row_of(run, k, step, row);
  return values.empty() ? std::nullopt : std::optional<double>(values.front());
}

// The tile that the panel is about: the latest that was begun and holds the row.
const TileSpan* tile_for(const Outline& outline, std::int64_t step, Head head, int row) {
  const TileSpan* found = nullptr;
  for (const TileSpan& tile : outline.tiles) {
    if (tile.first >= step) break;
    if (tile.head == head && holds_row(tile.rows, row) && !tile.cols.empty()) found = &tile;
  }
  return found;
}

void put_scores(SoftmaxScene& scene, const Run& run, const Parts& parts, std::int64_t step) {
  // The latest of matmul, scale and mask that is done.
  std::vector<float> values;
  for (std::int64_t k = parts.scores; k >= 0 && values.empty(); --k) {
    const Event& event = run.events[static_cast<std::size_t>(k)];
    if (k < step && is_scores(run, event.launch, event.to)) values = row_of(run, k, step, scene.row);
    if (holds_row(event.rows, scene.row) && (event.op == Op::matmul || event.op == Op::load)) break;
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (float value : values) largest = std::max(largest, static_cast<double>(value));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Score score;
    score.key = scene.keys.begin + static_cast<int>(i);
    score.label = key_label(run, score.key);
    score.value = values[i];
    score.masked = std::isinf(values[i]) && values[i] < 0;
    score.largest = !score.masked && static_cast<double>(values[i]) == largest;
    scene.scores.push_back(std::move(score));
  }
  if (!values.empty()) scene.tile_max = largest;
}

// Σ eˢ over the keys that the running sum has taken in, from the scores themselves, in double and in logarithms.
std::optional<Invariant> invariant(const Run& run, const Outline& outline, const TileSpan& last, std::int64_t step,
                                   int row, std::optional<double> m, std::optional<double> l) {
  if (!m || !l || !std::isfinite(*m)) return std::nullopt;
  double sum = 0;
  Invariant result;
  for (const TileSpan& tile : outline.tiles) {
    if (tile.first > last.first) break;
    if (tile.head != last.head || tile.launch != last.launch || !holds_row(tile.rows, row)) continue;
    const Parts parts = parts_of(run, tile, row);
    if (parts.sum < 0 || parts.sum >= step) continue;
    for (float s : row_of(run, parts.scores, step, row))
      if (!(std::isinf(s) && s < 0)) {
        sum += std::exp(static_cast<double>(s) - *m);
        ++result.keys;
      }
  }
  const double shift = std::exp(*m);
  result.left = *l * shift;
  result.right = sum * shift;
  result.holds = std::fabs(*l - sum) <= 1e-3 * std::fabs(sum);
  return result;
}

// A token as a word: without the space before it, and never invisible.
std::string word(const std::string& token) {
  const std::size_t first = token.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? std::string("(space)") : token.substr(first);
}

std::string shown(std::optional<double> value) { return value ? number(*value) : std::string("?"); }

void put_formulas(SoftmaxScene& scene, const Parts& parts, std::int64_t step) {
  const auto line = [&](std::int64_t k, std::string symbol, std::string expression, std::optional<double> result,
                        bool matters) {
    if (k < 0) return;
    Formula formula;
    formula.symbol = std::move(symbol);
    formula.expression = std::move(expression);
    formula.known = k < step;
    formula.fresh = k == step - 1;
    formula.matters = matters;
    formula.result = !formula.known ? std::string(to_come) : result ? number(*result) : std::string();
    scene.formulas.push_back(std::move(formula));
  };
  const std::string l_sum = shown(scene.tile_sum);
  line(parts.max, "m_new", fmt::format("max({}, {})", shown(scene.m_old), shown(scene.tile_max)), scene.m_new, true);
  line(parts.factor, "rescale",
       fmt::format("exp({} − {})", shown(scene.m_old), scene.m_new ? number(*scene.m_new) : "m_new"), scene.rescale,
       true);
  if (parts.factor >= 0)
    line(parts.sum, "l_new",
         fmt::format("{} · {} + {}", scene.rescale ? number(*scene.rescale) : "rescale", shown(scene.l_old), l_sum),
         scene.l_new, false);
  else
    line(parts.sum, "l", fmt::format("{} + {}", shown(scene.l_old), l_sum), scene.l_new, false);
  const std::string r = scene.rescale ? number(*scene.rescale) : "rescale";
  if (parts.rescale >= 0 && parts.product > parts.rescale)
    line(parts.product, "O_new", fmt::format("{} · O + P V", r), std::nullopt, false);
  else if (parts.rescale >= 0)  // flash3: with the P V of the tile before in it
    line(parts.rescale, "O_new", fmt::format("{} · O", r), std::nullopt, false);
  if (parts.normalise >= 0 && parts.normalise < step)
    line(parts.normalise, "O / l", fmt::format("O / {}", shown(scene.l_new)), std::nullopt, false);
}

// The update in symbols, for a row that has no numbers yet.
std::vector<Formula> rule() {
  const auto line = [](const char* symbol, const char* expression, bool matters) {
    Formula formula;
    formula.symbol = symbol;
    formula.expression = expression;
    formula.result = to_come;
    formula.matters = matters;
    return formula;
  };
  return {line("m_new", "max(m_old, largest score)", true), line("rescale", "exp(m_old − m_new)", true),
          line("l_new", "rescale · l_old + Σ P", false), line("O_new", "rescale · O + P V", false)};
}

}  // namespace

std::string key_label(const Run& run, int key) {
  if (key < static_cast<int>(run.tokens.size())) return word(run.tokens[static_cast<std::size_t>(key)]);
  return fmt::format("key {}", key);
}

// With n_q < n_kv the queries are the last n_q of the tokens.
std::string query_label(const Run& run, int row) {
  const int token = row + run.problem.n_kv - run.problem.n_q;
  if (0 <= token && token < static_cast<int>(run.tokens.size()))
    return word(run.tokens[static_cast<std::size_t>(token)]);
  return {};
}

SoftmaxScene softmax_scene(const Run& run, const Outline& outline, std::int64_t step, int row) {
  SoftmaxScene scene;
  scene.row = std::clamp(row, 0, std::max(0, run.problem.n_q - 1));
  scene.label = query_label(run, scene.row);
  const TileSpan* now = outline.at(step);
  const Head head = now ? now->head : 0;
  const TileSpan* tile = tile_for(outline, step, head, scene.row);
  if (!tile) {
    scene.message = step == 0 ? "Nothing has been computed yet." : "This row's turn has not come.";
    for (const TileSpan& next : outline.tiles)
      if (scene.go_to < 0 && next.head == head && holds_row(next.rows, scene.row) && !next.cols.empty()) {
        const Parts parts = parts_of(run, next, scene.row);
        scene.go_to = (parts.scores >= 0 ? parts.scores : next.first) + 1;
      }
    if (scene.go_to < 0)
      scene.message = "This row sees no key: its O is 0.";
    else
      scene.formulas = rule();
    return scene;
  }
  const Parts parts = parts_of(run, *tile, scene.row);
  scene.keys = tile->cols;
  put_scores(scene, run, parts, step);
  if (parts.max < 0) {
    scene.kind = SoftmaxKind::product;
    const bool makes_scores = parts.product < 0;
    scene.message = makes_scores
                        ? "This launch only makes S; it goes to HBM as it is. The softmax is a launch of its own."
                        : "This launch reads finished weights P back from HBM: no softmax is left to do.";
    return scene;
  }
  scene.kind = parts.factor >= 0 ? SoftmaxKind::online : SoftmaxKind::whole;
  if (scene.kind == SoftmaxKind::whole)
    scene.message = "The whole row is in registers at once, so m is final and nothing is ever rescaled.";
  scene.m_old = before(run, parts.max, scene.row);
  scene.m_new = value_of(run, parts.max, step, scene.row);
  scene.rescale = value_of(run, parts.factor, step, scene.row);
  scene.l_old = before(run, parts.sum, scene.row);
  scene.l_new = value_of(run, parts.sum, step, scene.row);
  const std::vector<float> p = row_of(run, parts.exp, step, scene.row);
  if (!p.empty()) {
    double sum = 0;
    for (float value : p) sum += static_cast<double>(value);
    scene.tile_sum = sum;
  }
  scene.o_before = row_before(run, parts.rescale, scene.row);
  std::array<std::int64_t, 3> changes{parts.rescale, parts.product, parts.normalise};
  std::sort(changes.begin(), changes.end());  // flash3 adds the tile before to O, and rescales then
  for (std::int64_t k : changes) {
    std::vector<float> o = row_of(run, k, step, scene.row);
    if (!o.empty()) {
      scene.o_after = std::move(o);
      scene.o_normalised = k == parts.normalise;
      scene.o_rescaled_only = k == parts.rescale;
    }
  }
  put_formulas(scene, parts, step);
  scene.invariant = invariant(run, outline, *tile, step, scene.row, scene.m_new, scene.l_new);
  return scene;
}

}  // namespace fa::viz

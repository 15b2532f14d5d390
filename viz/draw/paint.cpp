#include "viz/draw/paint.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

namespace fa::viz {
namespace {

constexpr std::string_view raised_t = "ᵀ";         // in neither font
constexpr std::string_view thin_space = "\u2009";  // JetBrains Mono lacks it

std::size_t code_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

ImVec2 point(float x, float y) { return {x, y}; }
// Rectangles on whole pixels stay sharp.
float snapped(float x) { return std::floor(x + 0.5f); }

}  // namespace

std::string plain(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"−", "-"},  {"–", "-"},  {"·", "."},   {"×", "x"},    {"…", "..."},    {"→", "->"}, {"←", "<-"},
      {"“", "\""}, {"”", "\""}, {"∞", "inf"}, {"Σ", "sum "}, {"√", "sqrt "},  {"ᵀ", "^T"}, {"₀", "0"},
      {"₁", "1"},  {"₂", "2"},  {"₃", "3"},   {"₄", "4"},    {"₅", "5"},      {"₆", "6"},  {"₇", "7"},
      {"₈", "8"},  {"₉", "9"},  {"ᵐ", "^m"},  {"ˢ", "^s"},   {"\u2009", " "}, {"≤", "<="}, {"²", "^2"}};
  std::string result;
  while (!text.empty()) {
    const std::size_t length = std::min(code_length(static_cast<unsigned char>(text.front())), text.size());
    const std::string_view code = text.substr(0, length);
    text.remove_prefix(length);
    if (length == 1) {
      result += code;
      continue;
    }
    const auto* word =
        std::find_if(std::begin(words), std::end(words), [&](const auto& pair) { return pair.first == code; });
    if (word != std::end(words)) result += word->second;
  }
  return result;
}

// Draws or only measures; the two glyphs that the fonts lack are made of what they have.
float Paint::run(float x, float y, std::string_view text, Face face, float size, Color color, bool draws) const {
  std::string own;
  if (!fonts_.complete) {
    own = plain(text);
    text = own;
  }
  ImFont* const chosen = font(face);
  const float begin = x;
  const auto piece = [&](std::string_view part, float at_size, float raise) {
    if (part.empty()) return;
    if (draws)
      list_->AddText(chosen, at_size, point(x, snapped(y - at_size / 2 - raise)), color, part.data(),
                     part.data() + part.size());
    x += chosen->CalcTextSizeA(at_size, FLT_MAX, 0, part.data(), part.data() + part.size()).x;
  };
  while (!text.empty()) {
    const std::size_t t = text.find(raised_t), space = text.find(thin_space), at = std::min(t, space);
    piece(text.substr(0, at), size, 0);
    if (at == std::string_view::npos) break;
    if (at == t)
      piece("T", size * 0.68f, size * 0.24f);
    else
      x += size * 0.22f;
    text.remove_prefix(at + (at == t ? raised_t.size() : thin_space.size()));
  }
  return x - begin;
}

float Paint::width(std::string_view text, Face face, float size) const { return run(0, 0, text, face, size, 0, false); }
float Paint::text(float x, float y, std::string_view text, Face face, float size, Color color) const {
  return run(x, y, text, face, size, color, true);
}
void Paint::text_right(float x, float y, std::string_view text, Face face, float size, Color color) const {
  run(x - width(text, face, size), y, text, face, size, color, true);
}
void Paint::text_centred(float x, float y, std::string_view text, Face face, float size, Color color) const {
  run(snapped(x - width(text, face, size) / 2), y, text, face, size, color, true);
}

float Paint::text_within(float x, float y, float most, std::string_view text, Face face, float size,
                         Color color) const {
  if (width(text, face, size) <= most) return run(x, y, text, face, size, color, true);
  std::string cut;
  while (!text.empty()) {
    const std::size_t length = std::min(code_length(static_cast<unsigned char>(text.front())), text.size());
    std::string longer = cut + std::string(text.substr(0, length));
    if (width(longer + "…", face, size) > most) break;
    cut = std::move(longer);
    text.remove_prefix(length);
  }
  return run(x, y, cut + "…", face, size, color, true);
}

std::vector<std::string> Paint::wrapped(std::string_view text, float most, Face face, float size) const {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && width(longer, face, size) > most) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

float Paint::paragraph(float x, float y, float most, std::string_view content, Face face, float size, Color color,
                       float step) const {
  for (const std::string& one : wrapped(content, most, face, size)) {
    text(x, y, one, face, size, color);
    y += step;
  }
  return y;
}

void Paint::fill(Box box, Color color, float rounding) const {
  list_->AddRectFilled(point(box.x, box.y), point(box.right(), box.bottom()), color, rounding);
}
void Paint::outline(Box box, Color color, float rounding, float thickness) const {
  list_->AddRect(point(box.x, box.y), point(box.right(), box.bottom()), color, rounding, 0, thickness);
}
void Paint::line(float x0, float y0, float x1, float y1, Color color, float thickness) const {
  list_->AddLine(point(x0, y0), point(x1, y1), color, thickness);
}

// Diagonals x + y = c, cut where they leave the box.
void Paint::hatch(Box box, Color color, float spacing) const {
  for (float c = std::ceil((box.x + box.y) / spacing) * spacing; c < box.right() + box.bottom(); c += spacing) {
    const float x0 = std::max(box.x, c - box.bottom()), x1 = std::min(box.right(), c - box.y);
    if (x1 > x0) line(x0, c - x0, x1, c - x1, color);
  }
}

void Paint::circle(float x, float y, float radius, Color color) const {
  list_->AddCircleFilled(point(x, y), radius, color, 32);
}
void Paint::triangle(float x0, float y0, float x1, float y1, float x2, float y2, Color color) const {
  list_->AddTriangleFilled(point(x0, y0), point(x1, y1), point(x2, y2), color);
}

void Paint::arrow(float x, float y0, float y1, float thickness, Color color) const {
  const float head = thickness * 1.1f, direction = y1 > y0 ? 1.0f : -1.0f, neck = y1 - direction * head;
  fill({x - thickness / 2, std::min(y0, neck), thickness, std::fabs(neck - y0)}, color);
  triangle(x - head, neck, x + head, neck, x, y1, color);
}

void Paint::tick(float x, float y, Color color) const {
  line(x - 4, y, x - 1, y + 3.5f, color, 2);
  line(x - 1.3f, y + 3.5f, x + 5, y - 4, color, 2);
}
void Paint::cross(float x, float y, Color color) const {
  line(x - 4, y - 4, x + 4, y + 4, color, 2);
  line(x - 4, y + 4, x + 4, y - 4, color, 2);
}

}  // namespace fa::viz

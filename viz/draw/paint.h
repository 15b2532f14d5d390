#pragma once
// Shapes and text on a draw list, in logical pixels. `y` of a text is the middle of its line.

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/theme.h"
#include "viz/model/layout.h"

namespace fa::viz {

struct Fonts {
  ImFont* ui = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
  bool complete = false;  // false: ImGui's own font, which has no Greek, arrows or subscripts
};

enum class Face { ui, bold, mono };

class Paint {
 public:
  Paint(ImDrawList* list, const Theme& the_theme, const Fonts& fonts) : theme(the_theme), list_(list), fonts_(fonts) {}

  float width(std::string_view text, Face face, float size) const;
  float text(float x, float y, std::string_view text, Face face, float size, Color color) const;  // returns its width
  void text_right(float x, float y, std::string_view text, Face face, float size, Color color) const;
  void text_centred(float x, float y, std::string_view text, Face face, float size, Color color) const;
  // Cut with "…" to at most `most` wide.
  float text_within(float x, float y, float most, std::string_view text, Face face, float size, Color color) const;
  // In lines of at most `most` wide; returns the y below the last line.
  float paragraph(float x, float y, float most, std::string_view text, Face face, float size, Color color,
                  float line = 18) const;
  std::vector<std::string> wrapped(std::string_view text, float most, Face face, float size) const;

  void fill(Box box, Color color, float rounding = 0) const;
  void outline(Box box, Color color, float rounding = 0, float thickness = 1) const;
  void line(float x0, float y0, float x1, float y1, Color color, float thickness = 1) const;
  void hatch(Box box, Color color, float spacing = 6) const;
  void circle(float x, float y, float radius, Color color) const;
  void triangle(float x0, float y0, float x1, float y1, float x2, float y2, Color color) const;
  // A thick arrow that points up or down between y0 and y1.
  void arrow(float x, float y0, float y1, float thickness, Color color) const;
  void tick(float x, float y, Color color) const;  // a check mark
  void cross(float x, float y, Color color) const;

  ImDrawList* list() const { return list_; }
  const Fonts& fonts() const { return fonts_; }
  bool complete() const { return fonts_.complete; }
  ImFont* mono() const { return fonts_.mono; }
  const Theme& theme;

 private:
  ImFont* font(Face face) const {
    return face == Face::ui ? fonts_.ui : face == Face::bold ? fonts_.bold : fonts_.mono;
  }
  float run(float x, float y, std::string_view text, Face face, float size, Color color, bool draws) const;

  ImDrawList* list_;
  const Fonts& fonts_;
};

// The piece of `text` that ImGui's own font can show.
std::string plain(std::string_view text);

}  // namespace fa::viz

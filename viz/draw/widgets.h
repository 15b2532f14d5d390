#pragma once
// Controls that several panels share. They draw themselves and say what was asked; they change nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/draw/paint.h"
#include "viz/model/screen.h"

namespace fa::viz {

// What only the drawing remembers from one frame to the next.
struct DrawState {
  char answer[24] = "";                // typed into the prediction
  int hover_row = -1, hover_key = -1;  // of the grid
};

// What every panel is given.
struct Ui {
  const Paint& paint;
  const Theme& theme;
  const Screen& screen;
  DrawState& state;
  Intents& intents;

  void ask(Intent intent) const { intents.push_back(std::move(intent)); }
};

struct Touch {
  bool hovered = false, held = false, clicked = false;
};
Touch touch(const char* id, Box box);

// A themed tooltip at the mouse; call it when the thing is hovered.
void tip(const Ui& ui, std::string_view text);

// A panel with its title and a badge that says what kind of numbers it shows. Returns the y where its content begins.
float panel(const Ui& ui, Box box, std::string_view title, std::string_view badge = {});

// Label and value above a track; the new value while it is dragged. `log`: each step of the track multiplies.
struct SliderLook {
  std::string_view label, value, hint;
  Color color;
  bool troubled = false, log = false;
};
std::optional<int> slider(const Ui& ui, const char* id, Box box, int value, int least, int most,
                          const SliderLook& look);

bool toggle(const Ui& ui, const char* id, float right, float y, bool on);
bool button(const Ui& ui, const char* id, Box box, std::string_view label, bool primary = false);

// A pill that opens a list; the value chosen in this frame.
std::optional<std::string> picker(const Ui& ui, const char* id, Box box, std::string_view label, std::string_view shown,
                                  const std::vector<Choice>& choices, std::string_view current, Color color = 0);

// One of a few words side by side; the index chosen in this frame.
std::optional<int> segments(const Ui& ui, const char* id, Box box, const std::vector<std::string>& words, int current);

// Is there an objection to what this control asks for? If so, `object` shows it in a bubble beside `box`.
bool troubled(const Ui& ui, Control control);
void object(const Ui& ui, Control control, Box box);

}  // namespace fa::viz

#pragma once
// Drawing with no display: a surfaceless EGL context and a framebuffer of our own. The same state gives the same bytes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/app/app.h"

namespace fa::viz {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // row-major, from the top
};

class Headless {
 public:
  // Width and height are of the picture; `scale` of them make one logical pixel. Throws InputError if this machine cannot draw.
  Headless(int width, int height, double scale);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  // Why this machine cannot draw; nothing if it can.
  static std::optional<std::string> why_not();

  // Runs frames of 1/60 s with the input events that are queued in ImGui; `frames` of them.
  void run(App& app, int frames);

  // The app as it stands, at rest.
  Picture draw(App& app);

 private:
  struct Context;
  void frame(App& app, double seconds);

  int width_, height_;
  double scale_;
  std::unique_ptr<Context> context_;
};

// Written beside the target first, then renamed. Throws InputError with one line if it cannot be written.
void write_png(const std::string& path, const Picture& picture);

}  // namespace fa::viz

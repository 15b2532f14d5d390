#pragma once
// The command line of flashscope.

#include <optional>
#include <string>

#include "viz/app/app.h"

namespace fa::viz {

struct Options {
  Start start;
  int width = 1600, height = 900;
  std::string png;         // write a picture, open no window
  std::string save_scene;  // write what is shown as a scene
};

struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;  // if there are none: help was shown (0), a value is bad (1) or the usage is (2)
};

// Throws InputError or SpecError with one line that names the argument and what would work.
ParsedOptions parse_options(int argc, char** argv);

}  // namespace fa::viz

// flashscope: the visualizer. Exit codes: 0 done, 1 refused or failed with one line, 2 usage.

#include <cstdio>
#include <exception>

#include "viz/app/headless.h"
#include "viz/app/options.h"
#include "viz/app/scene_file.h"
#include "viz/app/window.h"

int main(int argc, char** argv) try {
  using namespace fa::viz;
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  const Options& options = *parsed.options;

  App app(options.start);
  if (!options.png.empty() && !options.start.step) app.go_to_instructive();
  if (!options.save_scene.empty()) write_scene(options.save_scene, app.now());
  if (!options.png.empty()) {
    Headless headless(options.width, options.height, app.scale());
    write_png(options.png, headless.draw(app));
  } else if (options.save_scene.empty()) {
    show_window(app, options.width, options.height);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "flashscope: %s\n", error.what());
  return 1;
}

#pragma once
// scene.json: what to show, as data that lessons, people and tests exchange.

#include <string>
#include <string_view>

#include "viz/app/app.h"

namespace fa::viz {

// Fields that are absent keep their defaults; an unknown one is refused by name. `source` names the text in messages,
// `folder` is where its input may lie. Throws InputError with one line.
Start scene_from_json(std::string_view text, std::string_view source, const std::string& folder);
std::string to_json(const Start& start);

Start read_scene(const std::string& path);
void write_scene(const std::string& path, const Start& start);

// What is shown when nobody says what: the bundled input's first head.
Start default_start();

}  // namespace fa::viz

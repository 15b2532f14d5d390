#include "viz/app/fonts.h"

#include <filesystem>

#ifndef FA_FONT_UI
#define FA_FONT_UI ""
#endif
#ifndef FA_FONT_UI_BOLD
#define FA_FONT_UI_BOLD FA_FONT_UI
#endif
#ifndef FA_FONT_MONO
#define FA_FONT_MONO ""
#endif

namespace fa::viz {
namespace {

bool there(const char* path) {
  std::error_code ignored;
  return *path != '\0' && std::filesystem::is_regular_file(path, ignored);  // found by the build; may be gone since
}

ImFont* load(const char* path, const char* fallback) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFont* font = atlas->AddFontFromFileTTF(path, 13);
  if (font && fallback) {
    ImFontConfig merge;
    merge.MergeMode = true;
    atlas->AddFontFromFileTTF(fallback, 13, &merge);  // for the few signs that Inter lacks
  }
  return font;
}

}  // namespace

Fonts load_fonts() {
  Fonts fonts;
  if (there(FA_FONT_UI) && there(FA_FONT_MONO)) {
    fonts.ui = load(FA_FONT_UI, FA_FONT_MONO);
    fonts.bold = load(there(FA_FONT_UI_BOLD) ? FA_FONT_UI_BOLD : FA_FONT_UI, FA_FONT_MONO);
    fonts.mono = load(FA_FONT_MONO, nullptr);
    fonts.complete = fonts.ui && fonts.bold && fonts.mono;
  }
  if (!fonts.complete) fonts.ui = fonts.bold = fonts.mono = ImGui::GetIO().Fonts->AddFontDefault();
  return fonts;
}

}  // namespace fa::viz

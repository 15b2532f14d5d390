#include "sim/core/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "sim/core/error.h"

namespace fa {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

}  // namespace

std::filesystem::path assets_folder() {
  if (const char* folder = std::getenv("FLASHSCOPE_ASSETS"); folder && *folder) return folder;
  return FA_ASSETS_DIR;
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: is a folder, not a file.", path.string()));
  const File file(std::fopen(path.string().c_str(), "rb"));
  if (!file) throw InputError(fmt::format("{}: cannot be read: {}.", path.string(), std::strerror(errno)));
  std::string text;
  char chunk[1 << 16];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) text.append(chunk, count);
  if (std::ferror(file.get()))
    throw InputError(fmt::format("{}: reading failed: {}.", path.string(), std::strerror(errno)));
  return text;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::error_code error;
  // A device or a pipe has nothing to lose and cannot be replaced.
  const bool special = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  std::filesystem::path target = path;
  if (!special) target += ".partial";
  const auto fail = [&](int why) {
    if (!special) std::filesystem::remove(target, error);
    throw InputError(fmt::format("{}: cannot be written: {}.", path.string(), std::strerror(why)));
  };
  File file(std::fopen(target.string().c_str(), "wb"));
  if (!file) fail(errno);
  const bool whole = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fclose(file.release()) != 0 || !whole) fail(errno);
  if (special) return;
  std::filesystem::rename(target, path, error);
  if (error) fail(error.value());
}

}  // namespace fa

#pragma once
// Files, whole or not at all.

#include <filesystem>
#include <string>
#include <string_view>

namespace fa {

// The folder assets/: $FLASHSCOPE_ASSETS if set, else where the build found it.
std::filesystem::path assets_folder();

// The bytes of a file. Throws InputError with one line that names the file and why it cannot be read.
std::string read_text(const std::filesystem::path& path);

// Writes beside the target first, then renames, so that a failure leaves the old file as it was.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace fa

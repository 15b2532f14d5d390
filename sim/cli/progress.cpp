#include "sim/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace fa::cli {

namespace {

#ifdef __EMSCRIPTEN__
constexpr bool watched() { return false; }  // its isatty takes every stream for a terminal
#else
bool watched() { return isatty(STDERR_FILENO) != 0; }
#endif

}  // namespace

Progress::Progress(std::size_t steps) : steps_(steps), shown_(watched()) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::step(std::string_view name) {
  if (shown_) fmt::print(stderr, "\r\033[K{} ({} of {} done)", name, done_ < steps_ ? done_ : steps_, steps_);
  std::fflush(stderr);
  ++done_;
}

}  // namespace fa::cli

#include "sim/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace fa::cli {

Progress::Progress(std::size_t steps) : steps_(steps), shown_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::step(std::string_view name) {
  if (shown_) fmt::print(stderr, "\r\033[K{} ({} of {} done)", name, done_ < steps_ ? done_ : steps_, steps_);
  std::fflush(stderr);
  ++done_;
}

}  // namespace fa::cli

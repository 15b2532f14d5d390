// fasim: counts what attention asks of a GPU's memory. Exit codes: 0 done, 1 refused or failed, 2 usage.

#include <cstdio>
#include <exception>
#include <new>

#include "sim/cli/arguments.h"
#include "sim/cli/commands.h"

namespace {

constexpr struct {
  const char* name;
  void (*run)(const fa::cli::Arguments&);
} commands[] = {
    {"compare", fa::cli::compare}, {"run", fa::cli::run},     {"trace", fa::cli::trace},
    {"bounds", fa::cli::bounds},   {"banks", fa::cli::banks}, {"measured", fa::cli::measured},
    {"list", fa::cli::list},
};

}  // namespace

int main(int argc, char** argv) try {
  const fa::cli::Parsed parsed = fa::cli::parse(argc, argv);
  if (!parsed.arguments) return parsed.exit_code;
  for (const auto& command : commands)
    if (parsed.arguments->command == command.name) command.run(*parsed.arguments);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "fasim: the output could not be written\n");
    return 1;
  }
  return 0;
} catch (const std::bad_alloc&) {
  std::fprintf(stderr, "fasim: not enough memory for this problem; use smaller sizes or fewer heads\n");
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fasim: %s\n", error.what());
  return 1;
}

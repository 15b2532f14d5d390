#pragma once
// What fasim does, one function for each command. All print to stdout and throw InputError or SpecError.

#include "sim/cli/arguments.h"

namespace fa::cli {

void compare(const Arguments& arguments);
void run(const Arguments& arguments);
void trace(const Arguments& arguments);
void bounds(const Arguments& arguments);
void banks(const Arguments& arguments);
void measured(const Arguments& arguments);
void list(const Arguments& arguments);

}  // namespace fa::cli

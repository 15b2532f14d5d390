#pragma once
// Runs to JSON and back: a trace from a file is as good as a live one.
//
// Numbers that JSON lacks are written as the strings "inf", "-inf" and "nan".

#include <string>
#include <string_view>

#include "sim/record/run.h"

namespace fa {

std::string to_json(const Run& run);

// Throws InputError, which calls the text `source`, unless every index in it points into it.
Run run_from_json(std::string_view text, std::string_view source);

}  // namespace fa

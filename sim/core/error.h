#pragma once
// The two kinds of failure that a person can cause. Bugs are asserts.

#include <stdexcept>
#include <string>

namespace fa {

// The outside world was wrong: a file, a value on a command line. The text says what, where, and what would work.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A specification that cannot work, with the sentence of `why_invalid` or of an SRAM overflow.
struct SpecError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace fa

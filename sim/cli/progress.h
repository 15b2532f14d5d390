#pragma once
// One line on stderr that says what is being done, for people who wait; nothing if nobody looks.

#include <cstddef>
#include <string_view>

namespace fa::cli {

class Progress {
 public:
  explicit Progress(std::size_t steps);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string_view name);

 private:
  std::size_t steps_, done_ = 0;
  bool shown_;
};

}  // namespace fa::cli

#pragma once
// A timeline in the Chrome trace event format, which Perfetto and chrome://tracing open.

#include <string>
#include <vector>

#include "sim/analysis/timeline.h"

namespace fa {

struct NamedTimeline {
  std::string name;  // of the launch: a process in the trace
  const Launch* launch;
  Timeline timeline;
};

// A lane has a track for each unit that serves it, and one that says what it waits for. Times are microseconds at the
// GPU's highest clock; launches follow each other.
std::string to_perfetto(const std::vector<NamedTimeline>& timelines, const Hardware& hardware);

}  // namespace fa

#pragma once
// Discrete events on one SM: tasks on lanes, units that serve them, and what each waits for.
//
// A lane starts its tasks in order. A task starts when all it waits for has been seen; then it queues at its unit. A lane
// goes on when its task is done, or at once if the task is asynchronous.
//
// Warpgroups with roles: the vector units serve all lanes that are there in equal parts; the others serve whoever came first.
// Warps that all do the same: products and vector work run side by side, each at its own pace until together they need
// more of something than there is (Needs); then those who need it go slower alike. Copies and stores queue.

#include <cstdint>
#include <vector>

#include "sim/analysis/costs.h"
#include "sim/analysis/hazards.h"

namespace fa {

struct Task {
  int lane = 0;
  Cost cost;
};

struct Served {
  double issued = 0;        // the lane came to it, and all it waits for was there
  double begin = 0;         // the unit began
  double end = 0;           // the unit was done
  double seen = 0;          // the result is there
  std::int32_t cause = -1;  // of the waits of the task, by number: the one that held it up; −1: none did
};

// Waits of task k: waits.of(k). Tasks of one lane are in order. `begins`: when each lane begins, if not at 0.
std::vector<Served> schedule(const std::vector<Task>& tasks, const Waits& waits, bool roles = true,
                             const std::vector<double>& begins = {});

}  // namespace fa

#include "sim/analysis/schedule.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "sim/analysis/timeline_constants.h"

namespace fa {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double instant = 1e-6;  // cycles: times closer than this are one

// The tasks that one lane has queued at one unit, in order; only the first is served.
struct Queue {
  std::vector<std::size_t> tasks;
  std::size_t first = 0;
  double left = 0;  // of the first, at full rate

  bool empty() const { return first == tasks.size(); }
  std::size_t front() const { return tasks[first]; }
};

struct Lane {
  std::vector<std::size_t> tasks;
  std::size_t next = 0;
  std::size_t busy_with = 0;  // a task that it waits out
  bool busy = false;
  std::array<Queue, unit_count> queues;
};

class Simulation {
 public:
  Simulation(const std::vector<Task>& tasks, const Waits& waits) : tasks_(tasks), waits_(waits), served_(tasks.size()) {
    for (Served& task : served_) task.begin = task.end = task.seen = never;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const auto lane = static_cast<std::size_t>(tasks[k].lane);
      if (lane >= lanes_.size()) lanes_.resize(lane + 1);
      lanes_[lane].tasks.push_back(k);
    }
  }

  std::vector<Served> run() {
    for (;;) {
      double next = never;
      do {  // what starts on one lane may let another go on at the same instant
        moved_ = false;
        next = never;
        for (Lane& lane : lanes_) next = std::min(next, issue(lane));
      } while (moved_);
      serve();
      for (const Share& share : shares_) next = std::min(next, now_ + share.queue->left / share.rate);
      if (next == never) break;
      advance(next);
    }
    assert(std::all_of(served_.begin(), served_.end(), [](const Served& task) { return task.seen < never; }));
    return std::move(served_);
  }

 private:
  struct Share {
    Queue* queue;
    double rate;
  };

  // Starts what the lane can start now; the time at which it can go on, if that is known.
  double issue(Lane& lane) {
    for (; lane.next < lane.tasks.size(); ++lane.next) {
      if (lane.busy) {
        if (served_[lane.busy_with].seen > now_) return served_[lane.busy_with].seen;
        lane.busy = false;
      }
      const std::size_t k = lane.tasks[lane.next];
      const double ready = ready_at(k);
      if (ready > now_) return ready;
      served_[k].issued = now_;
      if (ready < now_ - instant) served_[k].cause = -1;  // the lane itself was late
      moved_ = true;
      const Cost& cost = tasks_[k].cost;
      lane.busy = !cost.asynchronous;
      lane.busy_with = k;
      Queue& queue = lane.queues[static_cast<std::size_t>(index_of(cost.unit))];
      if (queue.empty()) queue.left = cost.cycles;
      queue.tasks.push_back(k);
      if (queue.front() == k && cost.cycles <= 0) finish(queue);
    }
    return never;
  }

  // When all that task k waits for has been seen; never, as far as is known now.
  double ready_at(std::size_t k) {
    double ready = 0;
    std::int32_t number = 0;
    for (const Wait& wait : waits_.of(k)) {
      const double seen =
          served_[static_cast<std::size_t>(wait.event)].seen + (wait.why == Why::turn ? time::turn_cycles : 0);
      if (seen > ready) ready = seen, served_[k].cause = number;
      ++number;
    }
    return ready;
  }

  // Who is served now, and how fast.
  void serve() {
    shares_.clear();
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      const std::size_t begin = shares_.size();
      double earliest = never;
      for (Lane& lane : lanes_) {
        Queue& queue = lane.queues[unit];
        if (queue.empty()) continue;
        const double came = served_[queue.front()].issued;
        if (unit != static_cast<std::size_t>(index_of(Unit::vector))) {
          if (came > earliest + instant) continue;
          if (came < earliest - instant) shares_.resize(begin), earliest = came;
        }
        shares_.push_back({&queue, 1.0});
      }
      const auto count = static_cast<double>(shares_.size() - begin);
      if (count < 2) continue;
      for (std::size_t s = begin; s < shares_.size(); ++s)
        shares_[s].rate = unit != static_cast<std::size_t>(index_of(Unit::tensor)) ? 1 / count
                          : s == begin                                             ? time::first_share
                                       : (1 - time::first_share) / (count - 1);
    }
    for (const Share& share : shares_) {
      Served& task = served_[share.queue->front()];
      task.begin = std::min(task.begin, now_);
    }
  }

  void advance(double to) {
    const double step = to - now_;
    now_ = to;
    for (const Share& share : shares_) {
      share.queue->left -= step * share.rate;
      if (share.queue->left <= instant) finish(*share.queue);
    }
  }

  // The first task of the queue is done; so are those behind it that cost nothing.
  void finish(Queue& queue) {
    do {
      Served& task = served_[queue.front()];
      task.begin = std::min(task.begin, now_);
      task.end = now_;
      task.seen = now_ + tasks_[queue.front()].cost.latency;
      ++queue.first;
      if (queue.empty()) return;
      queue.left = tasks_[queue.front()].cost.cycles;
    } while (queue.left <= 0);
  }

  const std::vector<Task>& tasks_;
  const Waits& waits_;
  std::vector<Served> served_;
  std::vector<Lane> lanes_;
  std::vector<Share> shares_;
  double now_ = 0;
  bool moved_ = false;
};

}  // namespace

std::vector<Served> schedule(const std::vector<Task>& tasks, const Waits& waits) {
  return Simulation(tasks, waits).run();
}

}  // namespace fa

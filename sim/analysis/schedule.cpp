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
  double begins = 0;
  std::array<Queue, unit_count> queues;
};

class Simulation {
 public:
  Simulation(const std::vector<Task>& tasks, const Waits& waits, bool roles, const std::vector<double>& begins)
      : tasks_(tasks), waits_(waits), roles_(roles), served_(tasks.size()) {
    for (Served& task : served_) task.begin = task.end = task.seen = never;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const auto lane = static_cast<std::size_t>(tasks[k].lane);
      if (lane >= lanes_.size()) lanes_.resize(lane + 1);
      lanes_[lane].tasks.push_back(k);
    }
    for (std::size_t lane = 0; lane < std::min(begins.size(), lanes_.size()); ++lane)
      lanes_[lane].begins = begins[lane];
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
    if (now_ < lane.begins) return lane.begins;
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
      const double seen = served_[static_cast<std::size_t>(wait.event)].seen;
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
        if (!together(unit)) {
          if (came > earliest + instant) continue;
          if (came < earliest - instant) shares_.resize(begin), earliest = came;
        }
        shares_.push_back({&queue, 1.0});
      }
      const auto count = static_cast<double>(shares_.size() - begin);
      if (count < 2 || !roles_) continue;
      for (std::size_t s = begin; s < shares_.size(); ++s)
        shares_[s].rate = unit != static_cast<std::size_t>(index_of(Unit::tensor)) ? 1 / count
                          : s == begin                                             ? time::first_share
                                       : (1 - time::first_share) / (count - 1);
    }
    if (roles_)
      slow_each_other();
    else
      share_needs();
    for (const Share& share : shares_) {
      Served& task = served_[share.queue->front()];
      task.begin = std::min(task.begin, now_);
    }
  }

  // Products and vector work side by side take register and issue cycles from each other.
  void slow_each_other() {
    const auto cost_of = [&](const Share& share) -> const Cost& { return tasks_[share.queue->front()].cost; };
    const auto any = [&](Unit unit) {
      return std::any_of(shares_.begin(), shares_.end(), [&](const Share& s) { return cost_of(s).unit == unit; });
    };
    const bool products = any(Unit::tensor), vector = any(Unit::vector);
    for (Share& share : shares_) {
      const Cost& cost = cost_of(share);
      if (cost.unit == Unit::tensor && vector) share.rate *= cost.beside;
      if (cost.unit == Unit::vector) share.rate = std::min(share.rate, products ? cost.pace_beside : cost.pace);
    }
  }

  // Does the unit serve all lanes that are there at once?
  bool together(std::size_t unit) const {
    return unit == static_cast<std::size_t>(index_of(Unit::vector)) ||
           (!roles_ && unit == static_cast<std::size_t>(index_of(Unit::tensor)));
  }

  // All go at their own pace, or as fast as what they need together allows: the pace of all rises alike; whoever needs
  // something that is used up stays there, and the others rise on.
  void share_needs() {
    std::array<double, Needs::count> left;
    left.fill(1);
    std::vector<bool> held(shares_.size(), false);
    for (;;) {
      std::array<double, Needs::count> needed{};
      for (std::size_t s = 0; s < shares_.size(); ++s)
        for (int n = 0; n < Needs::count && !held[s]; ++n) needed[static_cast<std::size_t>(n)] += need(shares_[s], n);
      double pace = 1;
      int scarce = -1;
      for (int n = 0; n < Needs::count; ++n)
        if (const auto at = static_cast<std::size_t>(n); needed[at] * pace > left[at] + instant)
          pace = std::max(0.0, left[at]) / needed[at], scarce = n;
      for (std::size_t s = 0; s < shares_.size(); ++s) {
        if (held[s]) continue;
        shares_[s].rate = std::max(pace, instant);
        held[s] = scarce < 0 || need(shares_[s], scarce) > 0;
        if (held[s])
          for (int n = 0; n < Needs::count; ++n) left[static_cast<std::size_t>(n)] -= pace * need(shares_[s], n);
      }
      if (scarce < 0) return;
    }
  }
  double need(const Share& share, int n) const {
    const Cost& cost = tasks_[share.queue->front()].cost;
    return cost.cycles > 0 ? cost.needs[n] / cost.cycles : 0;
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
  const bool roles_;
  std::vector<Served> served_;
  std::vector<Lane> lanes_;
  std::vector<Share> shares_;
  double now_ = 0;
  bool moved_ = false;
};

}  // namespace

std::vector<Served> schedule(const std::vector<Task>& tasks, const Waits& waits, bool roles,
                             const std::vector<double>& begins) {
  return Simulation(tasks, waits, roles, begins).run();
}

}  // namespace fa

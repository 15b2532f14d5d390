// Hardware counters, read in this process over ranges of work that is run again for every pass.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fa::kernels {

using Counters = std::map<std::string, double>;

class Profiler {
 public:
  // For the current device. Throws one line that says what to do if counters cannot be read.
  Profiler();
  ~Profiler();

  const std::string& chip() const;

  // What the work of each range does to the metrics. Before every range of every pass `prepare` sets the caches up;
  // it is not counted. Counters that this chip does not have, or that come back as no number, are left out.
  std::vector<Counters> measure(std::span<const std::string_view> metrics, const std::function<void()>& prepare,
                                const std::vector<std::function<void()>>& ranges);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fa::kernels

#include "kernels/tools/metric_config.h"

#include <cupti_profiler_host.h>

#include "kernels/tools/cupti.h"

namespace fa::kernels {
namespace {

bool knows(CUpti_Profiler_Host_Object* host, const std::string& metric) {
  auto p = FA_CUPTI(CUpti_Profiler_Host_GetMetricProperties_Params);
  p.pHostObject = host;
  p.pMetricName = metric.c_str();
  return cuptiProfilerHostGetMetricProperties(&p) == CUPTI_SUCCESS;
}

}  // namespace

MetricConfig::MetricConfig(const std::string& chip, std::span<const std::string_view> metrics,
                           std::span<const std::uint8_t> availability) {
  auto start = FA_CUPTI(CUpti_Profiler_Host_Initialize_Params);
  start.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  start.pChipName = chip.c_str();
  start.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  check_cupti(cuptiProfilerHostInitialize(&start), "reading the metrics of this chip");
  host_ = start.pHostObject;

  for (const std::string_view metric : metrics) {
    std::string name(metric);
    (knows(host_, name) ? known_ : unknown_).push_back(std::move(name));
  }
  if (known_.empty()) return;
  for (const std::string& name : known_) pointers_.push_back(name.c_str());

  // All in one call: metrics that are added one by one are not packed into common passes.
  auto add = FA_CUPTI(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = host_;
  add.ppMetricNames = pointers_.data();
  add.numMetrics = pointers_.size();
  check_cupti(cuptiProfilerHostConfigAddMetrics(&add), "planning the metrics");

  auto size = FA_CUPTI(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host_;
  check_cupti(cuptiProfilerHostGetConfigImageSize(&size), "planning the metrics");
  image_.resize(size.configImageSize);
  auto get = FA_CUPTI(CUpti_Profiler_Host_GetConfigImage_Params);
  get.pHostObject = host_;
  get.configImageSize = image_.size();
  get.pConfigImage = image_.data();
  check_cupti(cuptiProfilerHostGetConfigImage(&get), "planning the metrics");

  auto count = FA_CUPTI(CUpti_Profiler_Host_GetNumOfPasses_Params);
  count.configImageSize = image_.size();
  count.pConfigImage = image_.data();
  check_cupti(cuptiProfilerHostGetNumOfPasses(&count), "planning the metrics");
  passes_ = count.numOfPasses;
}

MetricConfig::~MetricConfig() {
  auto stop = FA_CUPTI(CUpti_Profiler_Host_Deinitialize_Params);
  stop.pHostObject = host_;
  if (host_ != nullptr) cuptiProfilerHostDeinitialize(&stop);
}

}  // namespace fa::kernels

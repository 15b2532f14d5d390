#include "kernels/tools/profiler.h"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <fmt/format.h>

#include <cmath>

#include "kernels/tools/cuda.h"
#include "kernels/tools/cupti.h"
#include "kernels/tools/metric_config.h"

namespace fa::kernels {
namespace {

// The driver's name for the context that the CUDA runtime works in. Asked for by name, so that this program also
// starts (and says what is missing) where there is no driver.
CUcontext current_context() {
  must(cudaFree(nullptr), "starting CUDA");  // makes the context
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  must(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 12000, cudaEnableDefault, &found),
       "asking the driver for its context");
  CUcontext context = nullptr;
  if (entry == nullptr || reinterpret_cast<CUresult (*)(CUcontext*)>(entry)(&context) != CUDA_SUCCESS ||
      context == nullptr)
    throw std::runtime_error("the CUDA driver gives no context: update the driver");
  return context;
}

void refuse_unsupported(int device) {
  auto p = FA_CUPTI(CUpti_Profiler_DeviceSupported_Params);
  p.cuDevice = device;
  p.api = CUPTI_PROFILER_RANGE_PROFILING;
  check_cupti(cuptiProfilerDeviceSupported(&p), "asking whether this GPU can be profiled");
  if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
  const char* reason =
      p.architecture != CUPTI_PROFILER_CONFIGURATION_SUPPORTED ? "its compute capability is below 7.0"
      : p.vGpu != CUPTI_PROFILER_CONFIGURATION_SUPPORTED       ? "it is a virtual GPU whose host has profiling off"
      : p.confidentialCompute != CUPTI_PROFILER_CONFIGURATION_SUPPORTED ? "confidential computing is on"
      : p.sli != CUPTI_PROFILER_CONFIGURATION_SUPPORTED                 ? "SLI is on"
      : p.wsl != CUPTI_PROFILER_CONFIGURATION_SUPPORTED                 ? "this WSL has no profiling"
                                                                        : "it is made for mining";
  throw std::runtime_error(
      fmt::format("this GPU's hardware counters cannot be read: {}; use one on bare metal or passed through", reason));
}

}  // namespace

struct Profiler::State {
  std::string chip;
  std::vector<std::uint8_t> availability;
  CUpti_RangeProfiler_Object* profiler = nullptr;

  // The plan for a list of metrics, and an empty image to gather them into; made once per list.
  struct Plan {
    Plan(const std::string& name, std::span<const std::string_view> metrics, std::span<const std::uint8_t> available)
        : config(name, metrics, available) {}
    MetricConfig config;
    std::vector<std::uint8_t> empty;
  };
  std::map<std::pair<std::vector<std::string_view>, std::size_t>, std::unique_ptr<Plan>> plans;

  Plan& plan(std::span<const std::string_view> metrics, std::size_t ranges) {
    std::unique_ptr<Plan>& plan = plans[{{metrics.begin(), metrics.end()}, ranges}];
    if (plan != nullptr) return *plan;
    plan = std::make_unique<Plan>(chip, metrics, availability);
    if (plan->config.metrics().empty())
      throw std::runtime_error(
          fmt::format("none of the counters exists on this chip ({}): they are named for Hopper", chip));

    auto size = FA_CUPTI(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = profiler;
    size.pMetricNames = const_cast<const char**>(plan->config.metrics().data());
    size.numMetrics = plan->config.metrics().size();
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    check_cupti(cuptiRangeProfilerGetCounterDataSize(&size), "making room for counters");
    plan->empty.resize(size.counterDataSize);
    auto initialise = FA_CUPTI(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    initialise.pRangeProfilerObject = profiler;
    initialise.counterDataSize = plan->empty.size();
    initialise.pCounterData = plan->empty.data();
    check_cupti(cuptiRangeProfilerCounterDataImageInitialize(&initialise), "making room for counters");
    return *plan;
  }

  void configure(const Plan& plan, std::size_t ranges, std::vector<std::uint8_t>& data) {
    auto p = FA_CUPTI(CUpti_RangeProfiler_SetConfig_Params);
    p.pRangeProfilerObject = profiler;
    p.configSize = plan.config.image().size();
    p.pConfig = plan.config.image().data();
    p.counterDataImageSize = data.size();
    p.pCounterDataImage = data.data();
    p.range = CUPTI_UserRange;
    p.replayMode = CUPTI_UserReplay;
    p.maxRangesPerPass = ranges;
    p.numNestingLevels = 1;
    p.minNestingLevel = 1;
    p.targetNestingLevel = 1;
    check_cupti(cuptiRangeProfilerSetConfig(&p), "setting the counters up");
  }

  // Runs every range once; false when all passes have been seen.
  bool run_pass(const std::function<void()>& prepare, const std::vector<std::function<void()>>& ranges) {
    auto start = FA_CUPTI(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = profiler;
    check_cupti(cuptiRangeProfilerStart(&start), "starting a pass");
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      prepare();
      must(cudaDeviceSynchronize(), "preparing the caches");
      const std::string name = fmt::format("range {}", i);
      auto push = FA_CUPTI(CUpti_RangeProfiler_PushRange_Params);
      push.pRangeProfilerObject = profiler;
      push.pRangeName = name.c_str();
      check_cupti(cuptiRangeProfilerPushRange(&push), "opening a range");
      ranges[i]();
      must(cudaDeviceSynchronize(), "running a kernel under the profiler");
      auto pop = FA_CUPTI(CUpti_RangeProfiler_PopRange_Params);
      pop.pRangeProfilerObject = profiler;
      check_cupti(cuptiRangeProfilerPopRange(&pop), "closing a range");
    }
    auto stop = FA_CUPTI(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = profiler;
    check_cupti(cuptiRangeProfilerStop(&stop), "ending a pass");
    return stop.isAllPassSubmitted == 0;
  }

  std::vector<Counters> decode(const Plan& plan, std::size_t ranges, std::vector<std::uint8_t>& data) {
    auto decode = FA_CUPTI(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = profiler;
    check_cupti(cuptiRangeProfilerDecodeData(&decode), "decoding counters");
    auto info = FA_CUPTI(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    info.pCounterDataImage = data.data();
    info.counterDataImageSize = data.size();
    check_cupti(cuptiRangeProfilerGetCounterDataInfo(&info), "decoding counters");
    if (info.numTotalRanges != ranges)
      throw std::runtime_error(
          fmt::format("the profiler kept {} of {} ranges: run the command again", info.numTotalRanges, ranges));

    std::vector<Counters> results;
    for (std::size_t i = 0; i < ranges; ++i) {
      std::vector<double> values(plan.config.metrics().size());
      auto p = FA_CUPTI(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
      p.pHostObject = plan.config.host();
      p.pCounterDataImage = data.data();
      p.counterDataImageSize = data.size();
      p.rangeIndex = i;
      p.ppMetricNames = const_cast<const char**>(plan.config.metrics().data());
      p.numMetrics = values.size();
      p.pMetricValues = values.data();
      check_cupti(cuptiProfilerHostEvaluateToGpuValues(&p), "evaluating counters");
      Counters& counters = results.emplace_back();
      for (std::size_t m = 0; m < values.size(); ++m)
        if (std::isfinite(values[m])) counters[plan.config.metrics()[m]] = values[m];
    }
    return results;
  }
};

Profiler::Profiler() : state_(std::make_unique<State>()) {
  const CUcontext context = current_context();
  auto initialise = FA_CUPTI(CUpti_Profiler_Initialize_Params);
  check_cupti(cuptiProfilerInitialize(&initialise),
              "starting the profiler (libnvperf_host and libnvperf_target must lie beside libcupti)");
  int device = 0;
  must(cudaGetDevice(&device), "asking for the current device");
  refuse_unsupported(device);

  auto chip = FA_CUPTI(CUpti_Device_GetChipName_Params);
  chip.deviceIndex = static_cast<std::size_t>(device);
  check_cupti(cuptiDeviceGetChipName(&chip), "asking for the chip's name");
  state_->chip = chip.pChipName;

  auto available = FA_CUPTI(CUpti_Profiler_GetCounterAvailability_Params);
  available.ctx = context;
  check_cupti(cuptiProfilerGetCounterAvailability(&available), "asking which counters may be read");
  state_->availability.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = state_->availability.data();
  check_cupti(cuptiProfilerGetCounterAvailability(&available), "asking which counters may be read");

  auto enable = FA_CUPTI(CUpti_RangeProfiler_Enable_Params);
  enable.ctx = context;
  check_cupti(cuptiRangeProfilerEnable(&enable), "enabling the profiler");
  state_->profiler = enable.pRangeProfilerObject;
}

Profiler::~Profiler() {
  if (state_->profiler != nullptr) {
    auto disable = FA_CUPTI(CUpti_RangeProfiler_Disable_Params);
    disable.pRangeProfilerObject = state_->profiler;
    cuptiRangeProfilerDisable(&disable);
  }
  auto deinitialise = FA_CUPTI(CUpti_Profiler_DeInitialize_Params);
  cuptiProfilerDeInitialize(&deinitialise);
}

const std::string& Profiler::chip() const { return state_->chip; }

std::vector<Counters> Profiler::measure(std::span<const std::string_view> metrics, const std::function<void()>& prepare,
                                        const std::vector<std::function<void()>>& ranges) {
  const State::Plan& plan = state_->plan(metrics, ranges.size());
  std::vector<std::uint8_t> data = plan.empty;
  state_->configure(plan, ranges.size(), data);
  while (state_->run_pass(prepare, ranges)) {}
  return state_->decode(plan, ranges.size(), data);
}

}  // namespace fa::kernels

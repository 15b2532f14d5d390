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

// The profiler of a context, from here to the end of the scope.
class Enabled {
 public:
  explicit Enabled(CUcontext context) {
    auto p = FA_CUPTI(CUpti_RangeProfiler_Enable_Params);
    p.ctx = context;
    check_cupti(cuptiRangeProfilerEnable(&p), "enabling the profiler");
    object_ = p.pRangeProfilerObject;
  }
  Enabled(const Enabled&) = delete;
  Enabled& operator=(const Enabled&) = delete;
  ~Enabled() {
    auto p = FA_CUPTI(CUpti_RangeProfiler_Disable_Params);
    p.pRangeProfilerObject = object_;
    cuptiRangeProfilerDisable(&p);
  }

  // A call's zeroed parameters, with this profiler in them.
  template <class Params>
  Params fill(Params params) const {
    params.pRangeProfilerObject = object_;
    return params;
  }

 private:
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

// One gathering of counters. A profiler keeps to the first configuration that it is given (seen with CUPTI 13.0: a
// second one succeeds, and counts what the first asked for), so every gathering has a profiler of its own.
class Gathering {
 public:
  Gathering(CUcontext context, const MetricConfig& config, std::size_t ranges)
      : profiler_(context), config_(config), ranges_(ranges) {
    make_room();
    configure();
  }

  // Runs every range once; false when all passes have been seen.
  bool run_pass(const std::function<void()>& prepare, const std::vector<std::function<void()>>& ranges) {
    auto start = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_Start_Params));
    check_cupti(cuptiRangeProfilerStart(&start), "starting a pass");
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      prepare();
      must(cudaDeviceSynchronize(), "preparing the caches");
      const std::string name = fmt::format("range {}", i);
      auto push = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_PushRange_Params));
      push.pRangeName = name.c_str();
      check_cupti(cuptiRangeProfilerPushRange(&push), "opening a range");
      ranges[i]();
      must(cudaDeviceSynchronize(), "running a kernel under the profiler");
      auto pop = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_PopRange_Params));
      check_cupti(cuptiRangeProfilerPopRange(&pop), "closing a range");
    }
    auto stop = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_Stop_Params));
    check_cupti(cuptiRangeProfilerStop(&stop), "ending a pass");
    return stop.isAllPassSubmitted == 0;
  }

  std::vector<Counters> results() {
    auto decode = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_DecodeData_Params));
    check_cupti(cuptiRangeProfilerDecodeData(&decode), "decoding counters");
    auto info = FA_CUPTI(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    info.pCounterDataImage = data_.data();
    info.counterDataImageSize = data_.size();
    check_cupti(cuptiRangeProfilerGetCounterDataInfo(&info), "decoding counters");
    if (info.numTotalRanges != ranges_)
      throw std::runtime_error(
          fmt::format("the profiler kept {} of {} ranges: run the command again", info.numTotalRanges, ranges_));

    std::vector<Counters> all;
    for (std::size_t i = 0; i < ranges_; ++i) {
      std::vector<double> values(config_.metrics().size());
      auto p = FA_CUPTI(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
      p.pHostObject = config_.host();
      p.pCounterDataImage = data_.data();
      p.counterDataImageSize = data_.size();
      p.rangeIndex = i;
      p.ppMetricNames = const_cast<const char**>(config_.metrics().data());
      p.numMetrics = values.size();
      p.pMetricValues = values.data();
      check_cupti(cuptiProfilerHostEvaluateToGpuValues(&p), "evaluating counters");
      Counters& counters = all.emplace_back();
      for (std::size_t m = 0; m < values.size(); ++m)
        if (std::isfinite(values[m])) counters[config_.metrics()[m]] = values[m];
    }
    return all;
  }

 private:
  void make_room() {
    auto size = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_GetCounterDataSize_Params));
    size.pMetricNames = const_cast<const char**>(config_.metrics().data());
    size.numMetrics = config_.metrics().size();
    size.maxNumOfRanges = ranges_;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges_);
    check_cupti(cuptiRangeProfilerGetCounterDataSize(&size), "making room for counters");
    data_.resize(size.counterDataSize);
    auto initialise = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_CounterDataImage_Initialize_Params));
    initialise.counterDataSize = data_.size();
    initialise.pCounterData = data_.data();
    check_cupti(cuptiRangeProfilerCounterDataImageInitialize(&initialise), "making room for counters");
  }

  void configure() {
    auto p = profiler_.fill(FA_CUPTI(CUpti_RangeProfiler_SetConfig_Params));
    p.configSize = config_.image().size();
    p.pConfig = config_.image().data();
    p.counterDataImageSize = data_.size();
    p.pCounterDataImage = data_.data();
    p.range = CUPTI_UserRange;
    p.replayMode = CUPTI_UserReplay;
    p.maxRangesPerPass = ranges_;
    p.numNestingLevels = 1;
    p.minNestingLevel = 1;
    p.targetNestingLevel = 1;
    check_cupti(cuptiRangeProfilerSetConfig(&p), "setting the counters up");
  }

  Enabled profiler_;
  const MetricConfig& config_;
  std::size_t ranges_;
  std::vector<std::uint8_t> data_;
};

}  // namespace

struct Profiler::State {
  CUcontext context = nullptr;
  std::string chip;
  std::vector<std::uint8_t> availability;
  std::map<std::vector<std::string_view>, MetricConfig> plans;

  const MetricConfig& plan(std::span<const std::string_view> metrics) {
    const auto [it, made] =
        plans.try_emplace({metrics.begin(), metrics.end()}, chip, metrics, std::span<const std::uint8_t>(availability));
    if (it->second.metrics().empty())
      throw std::runtime_error(
          fmt::format("none of the counters exists on this chip ({}): they are named for Hopper", chip));
    return it->second;
  }
};

Profiler::Profiler() : state_(std::make_unique<State>()) {
  state_->context = current_context();
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
  available.ctx = state_->context;
  check_cupti(cuptiProfilerGetCounterAvailability(&available), "asking which counters may be read");
  state_->availability.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = state_->availability.data();
  check_cupti(cuptiProfilerGetCounterAvailability(&available), "asking which counters may be read");
}

Profiler::~Profiler() {
  auto deinitialise = FA_CUPTI(CUpti_Profiler_DeInitialize_Params);
  cuptiProfilerDeInitialize(&deinitialise);
}

const std::string& Profiler::chip() const { return state_->chip; }

std::vector<Counters> Profiler::measure(std::span<const std::string_view> metrics, const std::function<void()>& prepare,
                                        const std::vector<std::function<void()>>& ranges) {
  const MetricConfig& config = state_->plan(metrics);
  Gathering gathering(state_->context, config, ranges.size());
  while (gathering.run_pass(prepare, ranges)) {}
  return gathering.results();
}

}  // namespace fa::kernels

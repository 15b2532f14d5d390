// The profiler's own opinion of metric names, and its plan for gathering them. Needs CUPTI, but no GPU and no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUpti_Profiler_Host_Object;

namespace fa::kernels {

class MetricConfig {
 public:
  // `availability` is what the driver lets us read (empty: everything that the chip has). Metrics that the chip does
  // not know are left out; unknown() lists them. Throws if the profiler does not know the chip.
  MetricConfig(const std::string& chip, std::span<const std::string_view> metrics,
               std::span<const std::uint8_t> availability = {});
  MetricConfig(const MetricConfig&) = delete;
  MetricConfig& operator=(const MetricConfig&) = delete;
  ~MetricConfig();

  const std::vector<const char*>& metrics() const { return pointers_; }
  const std::vector<std::string>& unknown() const { return unknown_; }
  std::size_t passes() const { return passes_; }
  const std::vector<std::uint8_t>& image() const { return image_; }
  CUpti_Profiler_Host_Object* host() const { return host_; }

 private:
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::string> known_, unknown_;
  std::vector<const char*> pointers_;  // into known_, as CUPTI wants them
  std::vector<std::uint8_t> image_;
  std::size_t passes_ = 0;
};

}  // namespace fa::kernels

// Every compiled kernel, best first: choose() takes the first row that fits the problem and the GPU.
#include <array>

#include "kernels/flash1/backward.cuh"
#include "kernels/flash1/forward.cuh"
#include "kernels/flash2/backward.cuh"
#include "kernels/flash2/forward_1_baseline.cuh"
#include "kernels/flash2/forward_2_swizzle.cuh"
#include "kernels/flash2/forward_3_pipeline.cuh"
#include "kernels/flash2/forward_4_pingpong.cuh"
#include "kernels/flash3/forward_5_persistent.cuh"
#include "kernels/flash3/forward_fp8.cuh"
#include "kernels/launches.h"
#include "kernels/naive/backward.cuh"

namespace fa::kernels {
namespace {

constexpr std::array both{Element::fp16, Element::bf16};
using Number = __half;  // for sizes: those of bf16 are the same

template <class Config>
Kernel forward(std::string_view name, void (*launch)(const Args&), int shared_memory) {
  return {.name = name,
          .algorithm = "flash2",
          .pass = Pass::forward,
          .d = Config::d,
          .tiling = Config::tiling,
          .elements = both,
          .min_cc = 80,
          .shared_memory = shared_memory,
          .launch = launch};
}

constexpr std::array only_e4m3{Element::e4m3};

template <class Config>
Kernel flash3(std::string_view name, void (*launch)(const Args&)) {
  return {.name = name,
          .algorithm = "flash3",
          .pass = Pass::forward,
          .d = Config::d,
          .tiling = Config::tiling,
          .elements = both,
          .min_cc = 90,
          .max_cc = 90,
          .tensor_maps = true,
          .shared_memory = Flash3Shared<Config>::bytes,
          .launch = launch};
}

template <int d>
Kernel persistent(void (*launch)(const Args&)) {
  Kernel kernel = flash3<Flash3Forward<Number, d>>("flash3", launch);
  kernel.workspace_bytes = tile_order_workspace;
  return kernel;
}

template <int d>
Kernel eight_bits(void (*launch)(const Args&)) {
  using Config = Flash3Fp8<d>;
  return {.name = "flash3_fp8",
          .algorithm = "flash3",
          .pass = Pass::forward,
          .d = d,
          .tiling = Config::tiling,
          .elements = only_e4m3,
          .min_cc = 90,
          .max_cc = 90,
          .tensor_maps = true,
          .shared_memory = Fp8Shared<Config>::bytes,
          .launch = launch,
          .workspace_bytes = tile_order_workspace};
}

template <class Config>
Kernel backward(std::string_view name, void (*launch)(const Args&)) {
  return {.name = name,
          .algorithm = "flash2",
          .pass = Pass::backward,
          .d = Config::d,
          .tiling = Config::tiling,
          .elements = both,
          .min_cc = 80,
          .shared_memory = Flash2BackwardShared<Config>::bytes,
          .launch = launch,
          .workspace_bytes = flash2_backward_workspace<Config>};
}

template <int d>
Kernel pingpong(std::string_view name, void (*launch)(const Args&)) {
  using Config = Flash2PingPong<Number, d>;
  return forward<Config>(name, launch, Flash2PingPongShared<Config>::bytes);
}
template <int d>
Kernel pipeline(std::string_view name, void (*launch)(const Args&)) {
  using Config = Flash2Forward<Number, d>;
  return forward<Config>(name, launch, Flash2Pipeline<Config>::shared_memory);
}
template <int d>
Kernel swizzle(void (*launch)(const Args&)) {
  using Config = Flash2Forward<Number, d>;
  return forward<Config>("flash2_swizzle", launch, Flash2Swizzle<Config>::shared_memory);
}
template <int d>
Kernel baseline(void (*launch)(const Args&)) {
  using Config = Flash2Forward<Number, d>;
  return forward<Config>("flash2_baseline", launch, Flash2Baseline<Config>::shared_memory);
}

// sm_75 multiplies fp16 but not bf16: a row for each.
constexpr std::array only_fp16{Element::fp16}, only_bf16{Element::bf16};

template <int d>
Kernel flash1(Pass pass, std::span<const Element> elements, void (*launch)(const Args&)) {
  using Config = Flash1<Number, d>;
  const bool is_forward = pass == Pass::forward;
  return {.name = "flash1",
          .algorithm = "flash1",
          .pass = pass,
          .d = d,
          .tiling = Config::tiling,
          .elements = elements,
          .min_cc = elements[0] == Element::fp16 ? 75 : 80,
          .shared_memory = is_forward ? Flash1Shared<Config>::bytes : Flash1BackwardShared<Config>::bytes,
          .launch = launch,
          .workspace_bytes = is_forward ? flash1_forward_workspace<Config> : flash1_backward_workspace<Config>};
}

template <int d>
Kernel naive(Pass pass, std::span<const Element> elements, void (*launch)(const Args&)) {
  return {.name = "naive",
          .algorithm = "naive",
          .pass = pass,
          .d = d,
          .tiling = naive_tiling(d),
          .elements = elements,
          .min_cc = elements[0] == Element::fp16 ? 75 : 80,
          .shared_memory = std::max(ScoresProduct<Number>::shared_memory, RowsProduct<Number, d>::shared_memory),
          .launch = launch,
          .workspace_bytes = pass == Pass::forward
                                 ? [](const Problem& problem) { return ScoresSpace<Number>::bytes(problem, 1); }
                                 : [](const Problem& problem) { return ScoresSpace<Number>::bytes(problem, 2); }};
}

}  // namespace

std::span<const Kernel> kernels() {
  constexpr Pass f = Pass::forward, b = Pass::backward;
  static const std::array list{
      persistent<64>(flash3_persistent_d64),
      persistent<128>(flash3_persistent_d128),
      persistent<256>(flash3_persistent_d256),
      flash3<Flash3Step4<Number, 64>>("flash3_overlap", flash3_overlap_d64),
      flash3<Flash3Step4<Number, 128>>("flash3_overlap", flash3_overlap_d128),
      flash3<Flash3Step3<Number, 64>>("flash3_pingpong", flash3_pingpong_d64),
      flash3<Flash3Step3<Number, 128>>("flash3_pingpong", flash3_pingpong_d128),
      flash3<Flash3Step2<Number, 64>>("flash3_specialised", flash3_specialised_d64),
      flash3<Flash3Step2<Number, 128>>("flash3_specialised", flash3_specialised_d128),
      flash3<Flash3Step1<Number, 64>>("flash3_wgmma", flash3_wgmma_d64),
      flash3<Flash3Step1<Number, 128>>("flash3_wgmma", flash3_wgmma_d128),

      // The published forward is the fastest step for its head dimension: turns pay where exponentials or a full register
      // file hold the tensor cores up, and at d 128 two blocks per SM do as well without (flash2/NOTES.md).
      pingpong<64>("flash2", flash2_pingpong_d64),
      pipeline<128>("flash2", flash2_pipeline_d128),
      pingpong<256>("flash2", flash2_pingpong_d256),
      pingpong<64>("flash2_pingpong", flash2_pingpong_d64),
      pingpong<128>("flash2_pingpong", flash2_pingpong_d128),
      pingpong<256>("flash2_pingpong", flash2_pingpong_d256),
      pipeline<64>("flash2_pipeline", flash2_pipeline_d64),
      pipeline<128>("flash2_pipeline", flash2_pipeline_d128),
      pipeline<256>("flash2_pipeline", flash2_pipeline_d256),
      swizzle<64>(flash2_swizzle_d64),
      swizzle<128>(flash2_swizzle_d128),
      baseline<64>(flash2_baseline_d64),
      baseline<128>(flash2_baseline_d128),
      baseline<256>(flash2_baseline_d256),

      eight_bits<64>(flash3_fp8_d64),
      eight_bits<128>(flash3_fp8_d128),
      eight_bits<256>(flash3_fp8_d256),

      backward<Flash2Backward<Number, 64>>("flash2", flash2_backward_d64),
      backward<Flash2Backward<Number, 128>>("flash2", flash2_backward_d128),
      backward<Flash2BackwardSmall<Number, 128>>("flash2_small", flash2_backward_small_d128),
      backward<Flash2Backward<Number, 256>>("flash2", flash2_backward_d256),
      backward<Flash2BackwardSmall<Number, 256>>("flash2_small", flash2_backward_small_d256),

      flash1<64>(f, only_fp16, flash1_forward_d64),
      flash1<64>(f, only_bf16, flash1_forward_d64),
      flash1<128>(f, only_fp16, flash1_forward_d128),
      flash1<128>(f, only_bf16, flash1_forward_d128),
      flash1<64>(b, only_fp16, flash1_backward_d64),
      flash1<64>(b, only_bf16, flash1_backward_d64),
      flash1<128>(b, only_fp16, flash1_backward_d128),
      flash1<128>(b, only_bf16, flash1_backward_d128),

      naive<64>(f, only_fp16, naive_forward_d64),
      naive<64>(f, only_bf16, naive_forward_d64),
      naive<128>(f, only_fp16, naive_forward_d128),
      naive<128>(f, only_bf16, naive_forward_d128),
      naive<256>(f, only_fp16, naive_forward_d256),
      naive<256>(f, only_bf16, naive_forward_d256),
      naive<64>(b, only_fp16, naive_backward_d64),
      naive<64>(b, only_bf16, naive_backward_d64),
      naive<128>(b, only_fp16, naive_backward_d128),
      naive<128>(b, only_bf16, naive_backward_d128),
      naive<256>(b, only_fp16, naive_backward_d256),
      naive<256>(b, only_bf16, naive_backward_d256),
  };
  return list;
}

}  // namespace fa::kernels

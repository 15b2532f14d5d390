// The compiled launchers, one per file of kernels and head dimension: each picks the element type and enqueues.
#pragma once

#include "kernels/attention.h"

namespace fa::kernels {

void flash3_persistent_d64(const Args& args);
void flash3_persistent_d128(const Args& args);
void flash3_persistent_d256(const Args& args);
void flash3_overlap_d64(const Args& args);
void flash3_overlap_d128(const Args& args);
void flash3_pingpong_d64(const Args& args);
void flash3_pingpong_d128(const Args& args);
void flash3_specialised_d64(const Args& args);
void flash3_specialised_d128(const Args& args);
void flash3_wgmma_d64(const Args& args);
void flash3_wgmma_d128(const Args& args);
void flash3_fp8_d64(const Args& args);
void flash3_fp8_d128(const Args& args);
void flash3_fp8_d256(const Args& args);
void flash2_pingpong_d64(const Args& args);
void flash2_pingpong_d128(const Args& args);
void flash2_pingpong_d256(const Args& args);
void flash2_pipeline_d64(const Args& args);
void flash2_pipeline_d128(const Args& args);
void flash2_pipeline_d256(const Args& args);
void flash2_swizzle_d64(const Args& args);
void flash2_swizzle_d128(const Args& args);
void flash2_baseline_d64(const Args& args);
void flash2_baseline_d128(const Args& args);
void flash2_baseline_d256(const Args& args);
void flash2_backward_d64(const Args& args);
void flash2_backward_d128(const Args& args);
void flash2_backward_d256(const Args& args);
void flash2_backward_small_d128(const Args& args);
void flash2_backward_small_d256(const Args& args);
void flash1_forward_d64(const Args& args);
void flash1_forward_d128(const Args& args);
void naive_forward_d64(const Args& args);
void naive_forward_d128(const Args& args);
void naive_forward_d256(const Args& args);
void flash1_backward_d64(const Args& args);
void flash1_backward_d128(const Args& args);
void naive_backward_d64(const Args& args);
void naive_backward_d128(const Args& args);
void naive_backward_d256(const Args& args);

}  // namespace fa::kernels

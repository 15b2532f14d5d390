#include "sim/analysis/costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/analysis/timeline_constants.h"
#include "sim/core/error.h"

namespace fa {

Costs::Costs(const Run& run, const Launch& launch)
    : hardware_(run.hardware), launch_(launch), element_(run.problem.element) {
  const Hardware& h = hardware_;
  const bool eight_bits = element_ == Element::e4m3;
  // 32-bit operands go as tf32, at half the rate of 16 bits.
  const double peak = eight_bits                  ? h.tensor_flops_per_clk_8bit
                      : element_ == Element::fp32 ? h.tensor_flops_per_clk_16bit / 2.0
                                                  : h.tensor_flops_per_clk_16bit;
  for (const auto& [value, field] :
       {std::pair{peak, eight_bits ? "tensor_flops_per_clk_per_sm_8bit" : "tensor_flops_per_clk_per_sm_16bit"},
        {double(h.exp2_per_clk), "exp2_per_clk_per_sm"},
        {double(h.fp32_fma_per_clk), "fp32_fma_per_clk_per_sm"},
        {double(h.sram_bytes_per_clk), "sram_bytes_per_clk_per_sm"},
        {double(h.l2_bytes_per_clk), "l2_bytes_per_clk_per_sm"}})
    if (value <= 0)
      throw InputError(
          fmt::format("--hardware {} has no {}, which a model of time needs; give it in a .json file.", h.id, field));
  tensor_flops_per_clk_ = peak * (launch.lanes.empty() ? time::mma_sync_efficiency : time::tensor_efficiency);
  dram_bytes_per_clk_ = h.dram_gb_per_s / h.boost_clock_ghz / h.sms * time::dram_efficiency;
  for (const Allocation& tensor : run.allocations) {
    const Bytes requested = launch.counts[tensor.tensor].read;
    if (requested > Bytes(0))
      dram_share_[static_cast<std::size_t>(index_of(tensor.tensor))] = std::min(1.0, tensor.bytes() / requested);
  }
}

double Costs::numbers(BufferId buffer) const {
  return static_cast<double>(launch_.buffers[static_cast<std::size_t>(buffer)].shape.count());
}

Cost Costs::of(const Event& event) const {
  switch (event.op) {
    case Op::load: return load(event);
    case Op::matmul: return product(event);
    case Op::store:
    case Op::reduce: {
      const auto bytes = static_cast<double>(event.hbm.count());
      return {Unit::store, bytes / hardware_.l2_bytes_per_clk, bytes > 0 ? time::store_latency : 0, true};
    }
    case Op::start:
    case Op::turn:
    case Op::barrier: return {};
    default: break;
  }
  const double sram =
      static_cast<double>((event.sram_read + event.sram_written).count()) / hardware_.sram_bytes_per_clk;
  Cost cost{Unit::vector, std::max(vector_cycles(event), sram)};
  if (event.op == Op::log_sum_exp) cost.latency = time::tile_end_cycles;
  return cost;
}

Cost Costs::load(const Event& event) const {
  const auto bytes = static_cast<double>(event.hbm.count());
  if (bytes == 0) return {Unit::copy, 0, 0, true};
  const double share = dram_share_[static_cast<std::size_t>(index_of(event.tensor))];
  const double per_byte = std::max(1.0 / hardware_.l2_bytes_per_clk, share / dram_bytes_per_clk_);
  const double memory =
      hardware_.l2_latency_clk + share * std::max(0.0, hardware_.dram_latency_clk - hardware_.l2_latency_clk);
  return {Unit::copy, bytes * per_byte, memory + time::copy_latency, true};
}

Cost Costs::product(const Event& event) const {
  const double flops = static_cast<double>(event.flops.count()) / tensor_flops_per_clk_;
  const double sram = static_cast<double>(event.sram_read.count()) / hardware_.sram_bytes_per_clk;
  return {Unit::tensor, std::max(flops, sram), 0, !launch_.lanes.empty()};
}

// The pipes of a warp scheduler, in numbers per clock: MUFU does the exponentials and hides the FMA that scales their
// argument; FMA adds and multiplies; ALU, half as wide, compares, selects, packs and permutes.
double Costs::vector_cycles(const Event& event) const {
  const double mufu = hardware_.exp2_per_clk, fma = hardware_.fp32_fma_per_clk, alu = fma / 2;
  switch (event.op) {
    case Op::mask: return 2 * numbers(event.to) / alu;
    case Op::running_max: return numbers(event.from[1]) / alu;
    case Op::exp: return numbers(event.to) / mufu;
    case Op::rescale_factor:
    case Op::log_sum_exp: return numbers(event.to) / mufu;
    case Op::running_sum: return numbers(event.from[event.from[1] == no_buffer ? 0 : 1]) / fma;
    case Op::row_dot: return numbers(event.from[1]) / fma;
    case Op::softmax_gradient: return 2 * numbers(event.to) / fma;
    case Op::convert: return numbers(event.to) / alu / (element_ == Element::e4m3 ? 1 : 2);  // packs two 16-bit at once
    case Op::transpose: return numbers(event.to) / 4 * 2 / alu;                              // two permutes for 4 bytes
    default: return event.to == no_buffer ? 0 : numbers(event.to) / fma;
  }
}

}  // namespace fa

#include "sim/analysis/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/analysis/sectors.h"
#include "sim/analysis/timeline_constants.h"
#include "sim/core/error.h"

namespace fa {

double tensor_peak(const Hardware& h, Element element) {
  // 32-bit operands go as tf32, at half the rate of 16 bits.
  return element == Element::e4m3   ? h.tensor_flops_per_clk_8bit
         : element == Element::fp32 ? h.tensor_flops_per_clk_16bit / 2.0
                                    : h.tensor_flops_per_clk_16bit;
}

void require_rates(const Hardware& h, Element element) {
  for (const auto& [value, field] :
       {std::pair{tensor_peak(h, element),
                  element == Element::e4m3 ? "tensor_flops_per_clk_per_sm_8bit" : "tensor_flops_per_clk_per_sm_16bit"},
        {double(h.exp2_per_clk), "exp2_per_clk_per_sm"},
        {double(h.fp32_fma_per_clk), "fp32_fma_per_clk_per_sm"},
        {double(h.sram_bytes_per_clk), "sram_bytes_per_clk_per_sm"},
        {double(h.l2_bytes_per_clk), "l2_bytes_per_clk_per_sm"}})
    if (value <= 0)
      throw InputError(
          fmt::format("--hardware {} has no {}, which a model of time needs; give it in a .json file.", h.id, field));
}

// ---- Memory ----

namespace {
constexpr std::int64_t line = 128;  // bytes
}

MemoryRates::MemoryRates(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram,
                         double dram_efficiency, double l2_bytes_per_clk, double sms)
    : hardware_(run.hardware),
      l2_bytes_per_clk_(std::min<double>(run.hardware.l2_bytes_per_clk, l2_bytes_per_clk / sms)),
      dram_bytes_per_clk_(run.hardware.dram_gb_per_s / run.hardware.boost_clock_ghz / sms * dram_efficiency) {
  for (const Allocation& tensor : run.allocations) {
    const auto at = static_cast<std::size_t>(index_of(tensor.tensor));
    if (tensor.cols > 1)
      row_bytes_[at] = ceil_div(std::int64_t{tensor.cols} * tensor.bytes_each, sector_bytes) * sector_bytes;
    const Bytes requested = launch.counts[tensor.tensor].read;
    if (requested > Bytes(0)) dram_share_[at] = std::min(1.0, (dram ? dram->read_of[at] : tensor.bytes()) / requested);
  }
  const Bytes sent = launch.counts.written() + launch.counts.reduced();
  if (dram && sent > Bytes(0)) written_share_ = std::min(1.0, dram->written / sent);
}

// Of a piece of a row, the L2 gives whole lines: where rows are no multiple of one, more than the piece has.
double MemoryRates::l2_cycles(const Event& event) const { return lines(event) * line / l2_bytes_per_clk_; }

double MemoryRates::lines(const Event& event) const {
  const auto bytes = static_cast<double>(event.hbm.count());
  const std::int64_t row = row_bytes_[static_cast<std::size_t>(index_of(event.tensor))];
  const auto rows = static_cast<double>(event.rows.size());
  if (row == 0 || rows < 1) return bytes / line;
  const double piece = bytes / rows;
  return rows * (row % line == 0 ? std::ceil(piece / line) : (piece + line - sector_bytes) / line);
}

double MemoryRates::dram_cycles(const Event& event) const {
  const double share = event.op == Op::load ? share_of(event) : written_share_;
  return static_cast<double>(event.hbm.count()) * share / dram_bytes_per_clk_;
}

double MemoryRates::read_latency(const Event& event, double miss) const {
  return hardware_.l2_latency_clk +
         share_of(event) * miss * std::max(0.0, hardware_.dram_latency_clk - hardware_.l2_latency_clk);
}

// ---- Warpgroups with roles ----

RoleCosts::RoleCosts(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, double sms)
    : hardware_(run.hardware),
      launch_(launch),
      element_(run.problem.element),
      lazy_(run.tiling.lazy_factor),
      eight_bits_(lazy_ && element_ == Element::e4m3),
      o_from_registers_(run.tiling.o_from_registers),
      scores_(static_cast<double>(run.tiling.rows_each()) * run.tiling.rows_kv),
      tensor_flops_per_clk_(tensor_peak(run.hardware, run.problem.element)),
      memory_(run, launch, dram, time::dram_efficiency, std::numeric_limits<double>::infinity(), sms) {}

double RoleCosts::numbers(BufferId buffer) const {
  return static_cast<double>(launch_.buffers[static_cast<std::size_t>(buffer)].shape.count());
}

Cost RoleCosts::of(const Event& event) const {
  switch (event.op) {
    case Op::load:
      if (event.hbm == Bytes(0)) return {Unit::copy, 0, 0, true};
      return {Unit::copy, std::max(memory_.l2_cycles(event), memory_.dram_cycles(event)),
              memory_.read_latency(event, 1) + time::copy_latency, true};
    case Op::matmul: return product(event);
    case Op::store:
    case Op::reduce: {
      const auto bytes = static_cast<double>(event.hbm.count());
      // From registers, by the warps themselves: of each row a sector at once, and those go one by one.
      if (o_from_registers_) return {Unit::store, bytes / sector_bytes * time::sector_store};
      return {Unit::store, bytes / hardware_.l2_bytes_per_clk, bytes > 0 ? time::store_latency : 0, true};
    }
    case Op::start:
    case Op::turn:
    case Op::barrier: return {};
    default: break;
  }
  const double sram =
      static_cast<double>((event.sram_read + event.sram_written).count()) / hardware_.sram_bytes_per_clk;
  Cost cost = eight_bits_ ? eight_bit_vector(event) : Cost{Unit::vector, std::max(vector_cycles(event), sram)};
  if (event.op == Op::log_sum_exp) cost.latency = time::tile_end_cycles;
  return cost;
}

Cost RoleCosts::product(const Event& event) const {
  const double flops = static_cast<double>(event.flops.count()) / tensor_flops_per_clk_;
  const double sram = static_cast<double>(event.sram_read.count()) / hardware_.sram_bytes_per_clk;
  // An instruction multiplies up to 256 columns, two in a cycle.
  const int columns = launch_.buffers[static_cast<std::size_t>(event.to)].shape.cols;
  // (Where T of all columns does not fit in registers, our kernel in 8 bits takes slices of 64.)
  const double instruction = (eight_bits_ && columns > 128 ? 64 : std::min(256, columns)) / 2.0;
  Cost cost{Unit::tensor, std::max(flops, sram), 0, true};
  cost.beside = instruction / (instruction + time::wgmma_beside_vector);
  return cost;
}

// In 8 bits, of our kernel (forward_fp8.cuh): m stays, so that a tile has no maximum unless it has a mask or is the first
// without one. Sums and conversions run under the exponentials, on other pipes, and a warpgroup alone does not keep the
// exponential unit busy. T = P V is added to O, a multiply-add for each number. V is turned around with one permute for 4
// bytes; SRAM is its warps' own affair.
Cost RoleCosts::eight_bit_vector(const Event& event) const {
  const double alu = hardware_.fp32_fma_per_clk / 2.0;
  Cost cost{Unit::vector, vector_cycles(event)};
  switch (event.op) {
    case Op::running_max:
    case Op::running_sum: return {};
    case Op::mask:
      cost.cycles += scores_ / alu;
      cost.latency = time::raise_latency;
      break;
    case Op::rescale_factor:
      if (event.special == 0) return {};
      cost.cycles = scores_ / alu;
      cost.latency = time::raise_latency;
      break;
    case Op::exp:
      cost.pace = time::softmax_pace;
      cost.pace_beside = time::softmax_pace_beside;
      cost.latency = time::handover;  // the vote whether m must rise
      break;
    case Op::convert:
      // P, and then until P V may start; of O, what is plain.
      if (launch_.buffers[static_cast<std::size_t>(event.to)].level == Level::registers)
        return {Unit::vector, 0, time::handover};
      break;
    case Op::rescale:
      cost.cycles = numbers(event.to) / hardware_.fp32_fma_per_clk;
      cost.latency = time::handover;  // until the next scores start
      break;
    case Op::transpose: cost.cycles = numbers(event.to) / 4 / alu; break;
    case Op::normalise:
      if (o_from_registers_) cost.cycles += numbers(event.to) / alu;  // and O packed, to be stored
      break;
    default: break;
  }
  return cost;
}

// The pipes of a warp scheduler, in numbers per clock: MUFU does the exponentials and hides the FMA that scales their
// argument; FMA adds and multiplies; ALU, half as wide, compares, selects, packs and permutes.
double RoleCosts::vector_cycles(const Event& event) const {
  const double mufu = hardware_.exp2_per_clk, fma = hardware_.fp32_fma_per_clk, alu = fma / 2;
  switch (event.op) {
    case Op::mask: return 2 * numbers(event.to) / alu;
    case Op::running_max: return numbers(event.from[1]) / alu;
    // A row's m that stays until a score passes it: O seldom meets a factor.
    case Op::rescale: return lazy_ ? 0 : numbers(event.to) / fma;
    case Op::exp: return numbers(event.to) / mufu;
    case Op::rescale_factor:
    case Op::log_sum_exp: return lazy_ && event.op == Op::rescale_factor ? 0 : numbers(event.to) / mufu;
    case Op::running_sum: return numbers(event.from[event.from[1] == no_buffer ? 0 : 1]) / fma;
    case Op::row_dot: return numbers(event.from[1]) / fma;
    case Op::softmax_gradient: return 2 * numbers(event.to) / fma;
    case Op::convert: return numbers(event.to) / alu / (element_ == Element::e4m3 ? 1 : 2);  // packs two 16-bit at once
    case Op::transpose: return numbers(event.to) / 4 * 2 / alu;                              // two permutes for 4 bytes
    default: return event.to == no_buffer ? 0 : numbers(event.to) / fma;
  }
}

}  // namespace fa

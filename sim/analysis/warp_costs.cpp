#include "sim/analysis/warp_costs.h"

#include <algorithm>
#include <cmath>

#include "sim/analysis/timeline_constants.h"

namespace fa {
namespace {

constexpr double lanes = 32;
constexpr double bytes_at_once = 16 * lanes;  // of a warp: ldmatrix.x4, cp.async, a 16-byte load or store

}  // namespace

bool is_fused(const Run& run) { return run.program.rfind("flash", 0) == 0; }

WarpCosts::WarpCosts(const Run& run, const Launch& launch, const DramTraffic::OfLaunch* dram, int warps, double sms)
    : run_(run),
      launch_(launch),
      port_(launch),
      warps_(warps),
      sms_(sms),
      fused_(is_fused(run)),
      mma_flops_(2.0 * 16 * 8 * (16 * 2 / size_of(run.problem.element))),
      mma_cycles_(mma_flops_ / (tensor_peak(run.hardware, run.problem.element) / 4 * time::mma_sync_efficiency)),
      memory_(run, launch, dram, time::dram_per_cycle,
              time::l2_efficiency * run.hardware.sms * run.hardware.l2_bytes_per_clk, sms) {
  for (const BufferInfo& buffer : launch.buffers)
    row_by_row_ |= launch.counts.flops == Flops(0) && (buffer.name == "S" || buffer.name == "dP");
}

Cost WarpCosts::of(const Event& event, int visit) const {
  const Work work = work_of(event, visit);
  switch (event.op) {
    case Op::start: return {};
    case Op::load: {
      Cost c = cost(Unit::copy, work, 0);
      c.cycles = std::max(c.needs.issue, memory_.l2_cycles(event));
      if (event.hbm > Bytes(0))
        c.latency = memory_.read_latency(event, time::miss_latency) +
                    (info(event.to).level == Level::sram ? time::load_latency : 0);
      c.asynchronous = true;
      return c;
    }
    case Op::store:
    case Op::reduce: {
      Cost c = cost(Unit::store, work, 0);
      c.cycles = std::max({c.needs.issue, c.needs.sram, memory_.l2_cycles(event)});
      if (event.op == Op::reduce)
        c.cycles = std::max(c.cycles, static_cast<double>(event.hbm.count()) * sms_ / time::l2_reduce_bytes);
      c.asynchronous = true;
      return c;
    }
    case Op::matmul:
      return cost(Unit::tensor, work, run_.program == "flash1" ? time::product_latency_alone : time::product_latency);
    case Op::rescale_factor:
    case Op::log_sum_exp:
      return cost(Unit::vector, work, run_.program == "flash1" ? time::row_latency_block : time::row_latency);
    case Op::merge:
    case Op::convert: return cost(Unit::vector, work, time::barrier_latency);
    default: return cost(Unit::vector, work, 0);
  }
}

double WarpCosts::instructions(const Event& event, int visit) const {
  const Work work = work_of(event, visit);
  return work.mma + work.other + work.special;
}

bool WarpCosts::travels(BufferId buffer) const {
  return run_.program == "flash1" && run_.pass == Pass::backward && buffer != no_buffer && info(buffer).name == "dQ";
}

double WarpCosts::issue_cycles(const Event& event) const {
  const Work work = work_of(event, 1);
  return std::max(work.other + work.special, 2 * work.alu) / 4;
}

Cost WarpCosts::cost(Unit unit, const Work& w, double latency) const {
  Cost c{unit, 0, latency, false};
  const double schedulers = std::min(4, warps_);
  const double mma = w.mma * mma_cycles_ / schedulers, other = (w.other + w.special) * time::issue_cycles / schedulers;
  c.needs.issue = mma + other;
  c.needs.mufu = w.special * lanes / run_.hardware.exp2_per_clk * 4 / schedulers;
  c.needs.sram = w.sram_cycles;
  c.own = warps_ > 4 ? mma + other : mma * time::mma_alone + other * time::issue_alone;
  c.cycles = std::max({c.own, c.needs.mufu, c.needs.sram});
  return c;
}

WarpCosts::Work WarpCosts::work_of(const Event& event, int visit) const {
  if (row_by_row_) return of_a_row(event);
  const double at_once = static_cast<double>(event.hbm.count()) / bytes_at_once;
  const SramTraffic sram = port_.of(event);
  Work w;
  w.special = static_cast<double>(event.special) / lanes;
  w.sram_cycles = sram.wavefronts() / time::sram_efficiency;
  const auto per_number = [&](BufferId buffer, double instructions) {
    w.other += instructions * numbers(buffer) / lanes;
  };
  // Numbers that go to or come from SRAM in the warps' own pieces, 4 bytes a lane.
  w.other += static_cast<double>((sram.stored.bytes + sram.loaded.bytes).count()) / (4 * lanes);
  switch (event.op) {
    case Op::start: break;
    case Op::load:
      w.other = time::copy_instructions * at_once;
      if (travels(event.to)) w.other = time::travel_instructions * 2 * at_once;
      break;
    case Op::matmul: {
      w.mma = static_cast<double>(event.flops.count()) / mma_flops_;
      w.other += (fused_ ? time::product_instructions : time::product_instructions_naive) * warps_;
      const double ldmatrix = static_cast<double>(sram.operands.bytes.count()) / bytes_at_once;
      w.other += ldmatrix * (!fused_                       ? 1
                             : run_.pass == Pass::backward ? time::ldmatrix_instructions_full
                                                           : time::ldmatrix_instructions);
      if (info(event.from[0]).level == Level::registers) per_number(event.from[0], 0.5);  // packed, two at a time
      break;
    }
    case Op::store: {
      w.other = time::copy_instructions * at_once;
      if (travels(event.from[0])) w.other = time::travel_instructions * 2 * at_once;
      if (event.from[0] != no_buffer && info(event.from[0]).shape.cols > 1 && sram.stored.bytes > Bytes(0)) {
        per_number(event.from[0], 1);  // packed, written
        w.other += (!fused_                       ? time::block_instructions_naive
                    : run_.pass == Pass::backward ? time::block_instructions_backward
                                                  : time::block_instructions) *
                   warps_;
      }
      break;
    }
    case Op::reduce: w.other = time::copy_instructions * at_once; break;
    case Op::merge:
      per_number(event.to, 1);
      if (run_.program == "flash1" && run_.pass == Pass::forward)
        w.other += time::merge_instructions * warps_ * static_cast<double>(ceil_div(info(event.to).shape.cols, 64));
      break;
    case Op::mask: per_number(event.to, 2); break;
    case Op::rescale: per_number(event.to, chance_of_rescale(event, visit)); break;
    case Op::running_max: per_number(event.from[1], 1); break;
    case Op::running_sum: per_number(event.from[event.from[1] == no_buffer ? 0 : 1], 1); break;
    case Op::rescale_factor:
    case Op::log_sum_exp: w.other += time::row_instructions * w.special; break;
    case Op::row_dot: per_number(event.from[1], 2); break;
    case Op::softmax_gradient: per_number(event.to, 2); break;
    case Op::convert: per_number(event.to, 0.5); break;
    default:
      if (event.to != no_buffer) per_number(event.to, 1);
  }
  return w;
}

// A row's instructions with its exponentials, or with what stands for them; copies are in them. They run for every place that
// the kernel is compiled for. A row in pieces is read, unpacked and masked a second time: in the softmax with exponentials of
// its own, in the gradient without.
WarpCosts::Work WarpCosts::of_a_row(const Event& event) const {
  if (event.op != Op::exp && event.op != Op::softmax_gradient) return {};
  const bool gradient = event.op == Op::softmax_gradient;
  const int n = run_.problem.n_kv, places = gradient ? Tiling::gradient_length(n) : Tiling::row_length(n);
  const double passes = n <= places ? 1 : gradient ? time::gradient_in_pieces : time::softmax_in_pieces;
  const double rows = event.rows.size(),
               numbers = rows * passes * static_cast<double>(ceil_div(event.cols.size(), places) * places) / lanes;
  return {.other = (gradient ? time::gradient_instructions : time::softmax_instructions) * numbers +
                   time::reduction_instructions * sums_of_a_row() * warps_ * rows,
          .alu = (gradient ? time::gradient_alu : time::softmax_alu) * numbers};
}

// flash2 leaves O alone if no row of the warp has found a larger maximum. Of scores that show no trend, the largest of t
// tiles is in the last with a chance of 1/t.
double WarpCosts::chance_of_rescale(const Event& event, int visit) const {
  if (run_.program != "flash2" || visit < 1) return 1;
  return 1 - std::pow(1 - 1.0 / visit, static_cast<double>(info(event.to).shape.rows) / warps_);
}

}  // namespace fa

#include "sim/analysis/roofline.h"

#include <algorithm>

namespace fa {
namespace {

// Matmul flop for each clock of one SM. fp32 has no tensor cores of its own here: multiply-adds, two flop each.
double matmul_per_clk(const Hardware& h, Element element) {
  switch (element) {
    case Element::fp32: return 2.0 * h.fp32_fma_per_clk;
    case Element::e4m3:
    case Element::byte: return h.tensor_flops_per_clk_8bit;
    case Element::fp16:
    case Element::bf16: return h.tensor_flops_per_clk_16bit;
  }
  return 0;
}

double number(Bytes bytes) { return static_cast<double>(bytes.count()); }

}  // namespace

Roofline roofline(const Work& work, Element element, const Hardware& h) {
  const double clocks = h.sms * h.boost_clock_ghz * 1e9;  // of all SMs, each second
  Roofline result;
  const auto add = [&](std::string_view name, bool memory, double amount, double per_second) {
    if (per_second <= 0 || amount <= 0) return;
    const double seconds = amount / per_second;
    result.roofs.push_back({name, memory, amount, per_second, work.flops / amount, work.flops / seconds, seconds});
    if (seconds > result.lowest().seconds) result.binding = result.roofs.size() - 1;
  };
  add("matmul", false, work.flops, clocks * matmul_per_clk(h, element));
  add("exponentials", false, work.exponentials, clocks * h.exp2_per_clk);
  add("SRAM", true, work.sram, clocks * h.sram_bytes_per_clk);
  add("L2", true, work.l2, clocks * h.l2_bytes_per_clk);
  add("DRAM", true, work.dram, h.dram_gb_per_s * 1e9);
  if (result.roofs.empty()) return result;
  result.flops_per_second = result.lowest().flops_allowed;
  if (result.roofs.front().name == "matmul")
    result.of_peak = result.flops_per_second / result.roofs.front().flops_allowed;
  return result;
}

Work work_of(const Run& run, const DramTraffic* dram) {
  const Counts counts = run.counts();
  return {.flops = static_cast<double>(counts.flops.count()),
          .exponentials = static_cast<double>(counts.exponentials),
          .sram = number(counts.sram_read + counts.sram_written),
          .l2 = number(counts.moved()),
          .dram = dram ? number(dram->read + dram->written) : 0};
}

double needed_flops(const Problem& p, Pass pass) {
  double pairs = static_cast<double>(p.n_q) * p.n_kv;
  if (p.causal) {  // the last `rows` queries see some key: the first of them 1 or more, the last of them all
    const double rows = std::min(p.n_q, p.n_kv);
    pairs = rows * (static_cast<double>(p.n_kv) - (rows - 1) / 2);
  }
  return (pass == Pass::forward ? 4 : 10) * pairs * p.d * static_cast<double>(p.heads_total());
}

}  // namespace fa

#include "sim/analysis/measured.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "sim/analysis/sectors.h"
#include "sim/analysis/sram.h"

namespace fa {
namespace {

// Sum of the counters that the file has; none if it has none of them.
std::optional<double> sum(const Measurement& m, std::initializer_list<std::string_view> names) {
  std::optional<double> total;
  for (std::string_view name : names)
    if (const auto value = m.counter(name)) total = total.value_or(0) + *value;
  return total;
}

std::optional<double> reductions(const Measurement& m) {
  return sum(m, {"l1tex__m_l1tex2xbar_write_bytes_mem_global_op_red.sum",
                 "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum"});
}

// The counter of all writes has the reductions in it, and atomics, by which blocks that stay take their next tile.
std::optional<double> writes(const Measurement& m) {
  const auto all = m.counter("l1tex__m_l1tex2xbar_write_bytes.sum");
  if (!all) return std::nullopt;
  return *all - reductions(m).value_or(0) -
         m.counter("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_atom.sum").value_or(0);
}

// O leaves L2 when it must, which may be after the kernel: only a range that flushes L2 has seen all of it.
std::optional<double> dram_writes(const Measurement& m) {
  const auto found = m.after_flush.find("dram__bytes_write.sum");
  if (found == m.after_flush.end()) return std::nullopt;
  return found->second;
}

// These counters are in flop, a multiply-add being two. A kernel without tensor cores counts none here.
std::optional<double> matmul_flops(const Measurement& m) {
  const auto flops =
      sum(m, {"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum",
              "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_op_hgmma_src_fp16.sum",
              "sm__ops_path_tensor_src_fp8.sum"});
  return flops == 0.0 ? std::nullopt : flops;
}

// Instructions of the unit that does them, by 32 lanes. It does reciprocals, logarithms and integer divisions too, and the
// program counts those with them.
std::optional<double> exponentials(const Measurement& m) {
  const auto warps = m.counter("sm__inst_executed_pipe_xu.sum");
  if (!warps) return std::nullopt;
  return 32 * *warps;
}

// Of LSU and tensor-core instructions. (The counter of cp.async's writes, …_op_ldgsts, is no count of bytes: kernels that
// copy the same tiles read 0.1 to 1 times those, and no two runs agree. TMA has none.)
std::optional<double> sram_reads(const Measurement& m) {
  return sum(m, {"sm__sass_data_bytes_mem_shared_op_ld.sum", "sm__sass_data_bytes_mem_shared_op_ldsm.sum",
                 "sm__sass_data_bytes_mem_shared_op_gmma.sum"});
}
std::optional<double> sram_stores(const Measurement& m) {
  return sum(m, {"sm__sass_data_bytes_mem_shared_op_st.sum", "sm__sass_data_bytes_mem_shared_op_stsm.sum"});
}
std::optional<double> sram_read_wavefronts(const Measurement& m) {
  return sum(m, {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"});
}

double number(Bytes bytes) { return static_cast<double>(bytes.count()); }

}  // namespace

std::vector<Comparison> compare_measured(const Measurement& m, const Run& run, const DramTraffic* dram,
                                         const RunTime* time) {
  std::vector<Comparison> result;
  const auto compare = [&](std::string_view quantity, bool modelled, double simulated, std::optional<double> measured) {
    if (!measured || (simulated == 0 && *measured == 0)) return;
    Comparison c{quantity, modelled, simulated, *measured, std::nullopt};
    if (*measured != 0) c.error_percent = 100 * (simulated - *measured) / *measured;
    result.push_back(c);
  };
  const Counts counts = run.counts();
  const Sectors moved = sectors(run);
  compare("requested_read_bytes", false, number(moved.read), m.counter("l1tex__m_xbar2l1tex_read_bytes.sum"));
  compare("requested_write_bytes", false, number(moved.written), writes(m));
  compare("requested_reduce_bytes", false, number(moved.reduced), reductions(m));
  if (dram) {
    compare("dram_read_bytes", true, number(dram->read), m.counter("dram__bytes_read.sum"));
    compare("dram_write_bytes", true, number(dram->written), dram_writes(m));
  }
  if (run.detail >= Detail::kinds) {
    const SramTraffic sram = total_sram_traffic(run);
    compare("sram_read_bytes", false, number(sram.operands.bytes + sram.loaded.bytes), sram_reads(m));
    compare("sram_store_bytes", false, number(sram.stored.bytes), sram_stores(m));
    compare("sram_read_wavefronts", true, sram.operands.wavefronts + sram.loaded.wavefronts, sram_read_wavefronts(m));
    compare("sram_store_wavefronts", true, sram.stored.wavefronts,
            m.counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"));
  }
  compare("matmul_flops", false, static_cast<double>(counts.flops.count()), matmul_flops(m));
  compare("exponentials", false, static_cast<double>(counts.special), exponentials(m));
  if (time) {
    compare("active_cycles", true, time->active(), m.counter("sm__cycles_active.avg"));
    compare("cycles", true, time->cycles(), m.counter("sm__cycles_elapsed.max"));
  }
  return result;
}

std::vector<ErrorSummary> summarise(const std::vector<Comparison>& comparisons) {
  std::vector<ErrorSummary> result;
  for (const Comparison& c : comparisons) {
    auto at =
        std::find_if(result.begin(), result.end(), [&](const ErrorSummary& s) { return s.quantity == c.quantity; });
    if (at == result.end()) at = result.insert(at, {.quantity = c.quantity});
    if (!c.error_percent) continue;
    ++at->count;
    at->mape_percent += std::fabs(*c.error_percent);
    at->max_percent = std::max(at->max_percent, std::fabs(*c.error_percent));
  }
  for (ErrorSummary& s : result)
    if (s.count > 0) s.mape_percent /= s.count;
  return result;
}

}  // namespace fa

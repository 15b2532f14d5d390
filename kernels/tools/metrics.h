// The hardware counters that `fagpu measure` reads, by the profiler's own names (Hopper: chip GH100).
//
// The counters of one list are gathered in as many passes as the chip needs; every pass sees the same cold caches.
#pragma once

#include <array>
#include <string_view>

namespace fa::kernels {

inline constexpr std::array counted_metrics{
    std::string_view("l1tex__m_xbar2l1tex_read_bytes.sum"),                // requested reads: LSU, cp.async, TMA
    std::string_view("l1tex__m_l1tex2xbar_write_bytes.sum"),               // requested writes, reductions among them
    std::string_view("l1tex__m_l1tex2xbar_write_bytes_mem_lg_op_st.sum"),  //   by plain stores
    std::string_view("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_red.sum"),  //   by reductions (dQ)
    std::string_view("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_atom.sum"),
    std::string_view("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"),
    std::string_view("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum"),
    std::string_view("dram__bytes_read.sum"),
    std::string_view("dram__bytes_write.sum"),
    std::string_view(
        "lts__t_sectors_srcunit_tex_op_read.sum"),  // 32 bytes each, after the coalescer between SMs and L2
    std::string_view("lts__d_sectors_fill_device.sum"),
    std::string_view("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),  // SRAM, 128 bytes a wavefront at best
    std::string_view("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
    std::string_view("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
    std::string_view("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
    std::string_view("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"),
    std::string_view("sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum"),  // matmul flops by mma.sync
    std::string_view("sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum"),
    std::string_view("sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum"),  //   by wgmma
    std::string_view("sm__ops_path_tensor_op_hgmma_src_fp16.sum"),
    std::string_view("sm__ops_path_tensor_src_fp8.sum"),
    std::string_view("sm__inst_executed_pipe_xu.sum"),  // exponentials: × 32 lanes
    std::string_view("sm__inst_executed_pipe_fma.sum"),
    std::string_view("sm__inst_executed_pipe_alu.sum"),
    std::string_view("sm__inst_executed.sum"),
    std::string_view("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"),  // spilled registers: 0 in published kernels
    std::string_view("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"),
    // SRAM bytes that instructions asked for. The profiler rewrites a kernel's instructions to count these, and counts
    // them for the kernel before where kernels share a pass.
    std::string_view("sm__sass_data_bytes_mem_shared.sum"),
    std::string_view("sm__sass_data_bytes_mem_shared_op_ld.sum"),
    std::string_view("sm__sass_data_bytes_mem_shared_op_ldsm.sum"),
    std::string_view("sm__sass_data_bytes_mem_shared_op_ldgsts.sum"),
    std::string_view("sm__sass_data_bytes_mem_shared_op_st.sum"),
    std::string_view("sm__sass_data_bytes_mem_shared_op_stsm.sum"),
    std::string_view("sm__sass_data_bytes_mem_shared_op_gmma.sum"),  //   for wgmma, which reads its operands there
    std::string_view("gpu__time_duration.sum"),                      // ns
    std::string_view("sm__cycles_elapsed.max"),
    std::string_view("sm__cycles_active.avg"),
};

// Dirty lines leave L2 when they must, which may be long after the kernel. These are read over a range that also
// flushes them out; the flush alone is measured beside it and subtracted.
inline constexpr std::array flushed_metrics{
    std::string_view("dram__bytes_write.sum"),
};

}  // namespace fa::kernels

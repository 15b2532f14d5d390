// Every machine instruction that the kernels name themselves: one function each.
//
// Fragments of the tensor-core multiply m16n8k16 (fp32 sums), for lane = 4·g + t (g = 0…7, t = 0…3):
//
//   A [16 × 16]  a[0] = (g, 2t…2t+1)   a[1] = (g+8, 2t…)   a[2] = (g, 2t+8…)   a[3] = (g+8, 2t+8…)
//   B [16 × 8]   b[0] = (2t…2t+1, g)   b[1] = (2t+8…, g)
//   C [16 × 8]   c[0], c[1] = (g, 2t), (g, 2t+1)            c[2], c[3] = (g+8, 2t), (g+8, 2t+1)
//
// C's pairs sit where A wants them: two neighbouring C tiles, packed to 16 bits, are one A tile. So P = exp(S − m) goes
// from the first product to the second without leaving the registers.   [PTX ISA, "mma.m16n8k16"]
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace fa::kernels {

// The address of a shared-memory object as PTX counts it: 32 bits, from the start of the block's shared memory.
__device__ __forceinline__ std::uint32_t smem_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// threadIdx.x, read where it is needed: what is derived from it then need not be kept in registers over a loop.
__device__ __forceinline__ unsigned thread_index() {
  unsigned index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}

// Copies 16 bytes from global to shared memory without passing registers; `valid` false writes zeros and reads nothing.
// sm_75 has no such copy: there it is a load and a store.
__device__ __forceinline__ void cp_async_16(std::uint32_t smem, const void* global, bool valid) {
#if __CUDA_ARCH__ >= 800
  const int source_bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(smem), "l"(global), "r"(source_bytes)
               : "memory");
#else
  uint4 value = make_uint4(0, 0, 0, 0);
  if (valid) value = *static_cast<const uint4*>(global);
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(smem), "r"(value.x), "r"(value.y), "r"(value.z),
               "r"(value.w)
               : "memory");
#endif
}

// Closes a group of this thread's copies.
__device__ __forceinline__ void cp_async_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the `still_open` newest groups of this thread are in flight. Other threads' copies need a barrier.
template <int still_open>
__device__ __forceinline__ void cp_async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(still_open) : "memory");
#endif
}

// Barriers 1 … 15 of a block, for a part of its threads (barrier 0 is __syncthreads). Waits until `threads` threads have
// come to it by sync or arrive; both order memory like __syncthreads.
__device__ __forceinline__ void barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// Counts this thread in without waiting.
__device__ __forceinline__ void barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// As barrier_sync; and whether `condition` holds in any of the threads.
__device__ __forceinline__ bool barrier_any(int id, int threads, bool condition) {
  unsigned any;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, %3, 0;\n"
      "barrier.cta.red.or.pred p, %1, %2, p;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(any)
      : "r"(id), "r"(threads), "r"(static_cast<unsigned>(condition))
      : "memory");
  return any != 0;
}

// Four 8 × 8 tiles of 16-bit numbers; lane 8·i + r gives the address of row r of tile i (16 bytes).
// Lane 4·g + t receives numbers 2t, 2t+1 of row g of tile i in r[i].
__device__ __forceinline__ void ldmatrix(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// The same, each tile transposed on its way.
__device__ __forceinline__ void ldmatrix_transposed(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// C += A·B on the tensor cores. sm_75 multiplies 8 deep: two steps there, and fp16 only (choose() refuses bf16).
template <class Number>
__device__ __forceinline__ void mma(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  static_assert(std::is_same_v<Number, __half> || std::is_same_v<Number, __nv_bfloat16>);
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<Number, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#else
  if constexpr (std::is_same_v<Number, __half>) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[2]), "r"(a[3]), "r"(b1));
  } else {
    __trap();
  }
#endif
}

// Shared memory by its 32-bit address: 4 bytes in, 4 and 16 bytes out.
__device__ __forceinline__ void store_smem(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_smem(std::uint32_t address) {
  std::uint32_t value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ __forceinline__ uint4 load_smem_16(std::uint32_t address) {
  uint4 value;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(address)
               : "memory");
  return value;
}

// Write 8 and 16 bytes to global memory, in one piece: separate stores, which the compiler may make of a plain one, would
// leave the SM as partial sectors.
__device__ __forceinline__ void store_global_8(void* global, float2 value) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(global), "f"(value.x), "f"(value.y) : "memory");
}
__device__ __forceinline__ void store_global_16(void* global, uint4 value) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(global), "r"(value.x), "r"(value.y), "r"(value.z),
               "r"(value.w)
               : "memory");
}

// Writes 8 bytes to global memory if `valid`: without a branch around each store.
__device__ __forceinline__ void store_global_8_if(bool valid, void* global, std::uint32_t low, std::uint32_t high) {
  asm volatile(
      "{.reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.v2.b32 [%1], {%2, %3};}" ::"r"(static_cast<unsigned>(valid)),
      "l"(global), "r"(low), "r"(high)
      : "memory");
}

// Reads global memory past the L1, which may still hold what a pass before has read: so that a kernel whose numbers travel
// asks the L2 for all of them.
template <class Value>
__device__ __forceinline__ Value load_past_l1(const Value* global) {
  return __ldcg(global);
}

// log2 x, to an absolute error of 2^-22; subnormal numbers count as 0, whose logarithm is −inf. Volatile, so that the
// compiler does not make its execution depend on what x is.
__device__ __forceinline__ float log2_fast(float x) {
  float y;
  asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 2^x, to 2 units in the last place; subnormal results become 0. 2^−inf = 0, NaN stays NaN.
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The larger number, or NaN if one of them is NaN (fmaxf drops it). sm_80 on.
__device__ __forceinline__ float max_or_nan(float x, float y) {
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

// Adds four neighbouring fp32 numbers into global memory (16-byte aligned); the L2 adds, nothing comes back.
// One instruction from sm_90 on, four before.
__device__ __forceinline__ void reduce_add_4(float* global, float x, float y, float z, float w) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(global), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
#else
  atomicAdd(global + 0, x);
  atomicAdd(global + 1, y);
  atomicAdd(global + 2, z);
  atomicAdd(global + 3, w);
#endif
}

// ---- Hopper (sm_90a) from here on -------------------------------------------------------------------------------------

// An mbarrier: 8 bytes of shared memory that count arrivals and announced bytes. When both are in, its phase flips.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes the initialised barriers visible to the copy engine; a block barrier must follow for the other threads.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and announces bytes that copies will bring: the phase flips when they have landed.
__device__ __forceinline__ void mbarrier_arrive_expecting(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Waits until the phase of this parity is over. On a fresh barrier a wait for parity 1 passes at once.
__device__ __forceinline__ void mbarrier_wait(std::uint32_t barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra.uni again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// One lane of the warp, the same each time: true there.
__device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

// The value of lane 0. Stays where it is written, unlike __shfl_sync.
__device__ __forceinline__ std::uint32_t first_lane(std::uint32_t x) {
  std::uint32_t y;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x) : "memory");
  return y;
}

// What L2 should do with lines that a copy touches: keep those that other blocks will read, give up the others first.
__device__ __forceinline__ std::uint64_t l2_keep() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ std::uint64_t l2_give_up() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// The copy engine (TMA). A box of a tensor map [batch][head][row][column] from (column, row, head, batch) on; what lies
// outside the tensor becomes zeros and is not read, but counts among the bytes that `barrier` expects.
__device__ __forceinline__ void tma_load(std::uint32_t smem, const CUtensorMap& map, std::uint32_t barrier, int column,
                                         int row, int head, int batch, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(smem),
      "l"(&map), "r"(barrier), "r"(column), "r"(row), "r"(head), "r"(batch), "l"(policy)
      : "memory");
}
// The way back; what lies outside the tensor is not written.
__device__ __forceinline__ void tma_store(const CUtensorMap& map, std::uint32_t smem, int column, int row, int head,
                                          int batch) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
               "r"(smem), "r"(column), "r"(row), "r"(head), "r"(batch)
               : "memory");
}
__device__ __forceinline__ void tma_prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
// Closes a group of this thread's stores; waits until all but `still_open` groups have read their shared memory.
__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int still_open>
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(still_open) : "memory");
}
// This thread's ordinary accesses to shared memory come before what the copy engine and wgmma do after it. A barrier
// carries the order to other threads.
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Gives registers of this warpgroup back, or takes more; all of its warps must come. A multiple of 8.
template <int registers>
__device__ __forceinline__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// Four 8 × 8 tiles of 16-bit numbers, the way of ldmatrix backwards.
__device__ __forceinline__ void stmatrix(std::uint32_t address, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2,
                                         std::uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0), "r"(r1),
               "r"(r2), "r"(r3)
               : "memory");
}

// Four fp32 numbers, rounded to e4m3 (beyond ±448: to that), as one register: `a` in the lowest byte.
__device__ __forceinline__ std::uint32_t pack_e4m3(float a, float b, float c, float d) {
  std::uint32_t packed;
  asm("{\n"
      ".reg .b16 low, high;\n"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "mov.b32 %0, {low, high};\n"
      "}"
      : "=r"(packed)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return packed;
}

// wgmma, the multiply of a warpgroup, runs beside its threads: fence before the first of a group (registers written
// before are seen), commit after the last, wait until at most `still_open` groups run.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int still_open>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(still_open) : "memory");
}
// Nothing is executed: the compiler may not move what reads or writes these registers over this point.
template <int tiles>
__device__ __forceinline__ void pin(float (&C)[tiles][4]) {
#pragma unroll
  for (int t = 0; t < tiles; ++t)
    asm volatile("" : "+f"(C[t][0]), "+f"(C[t][1]), "+f"(C[t][2]), "+f"(C[t][3])::"memory");
}

// C [64 × columns] = A·B, or C += A·B if `add`; A [64 × 32 bytes] from shared memory (ss) or registers (rs), B from
// shared memory, both by descriptor (warpgroup.cuh). Warp w holds rows 16·w … 16·w + 15 of A and C, each lane the
// fragments drawn above: C[t] is columns 8·t … 8·t + 7. `across`: B lies with its columns, not its depth, side by side.
//
// The instruction lists its registers one by one: FA_C lists the first 8·i of them as operands, FA_R as text.
template <int columns>
struct Wgmma;

#define FA_C8(t)                                                                                                       \
  "+f"(C[t][0]), "+f"(C[t][1]), "+f"(C[t][2]), "+f"(C[t][3]), "+f"(C[t + 1][0]), "+f"(C[t + 1][1]), "+f"(C[t + 1][2]), \
      "+f"(C[t + 1][3])
#define FA_C_1 FA_C8(0)
#define FA_R_1 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FA_C_2 FA_C_1, FA_C8(2)
#define FA_R_2 FA_R_1 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define FA_C_3 FA_C_2, FA_C8(4)
#define FA_R_3 FA_R_2 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define FA_C_4 FA_C_3, FA_C8(6)
#define FA_R_4 FA_R_3 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define FA_C_5 FA_C_4, FA_C8(8)
#define FA_R_5 FA_R_4 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define FA_C_6 FA_C_5, FA_C8(10)
#define FA_R_6 FA_R_5 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define FA_C_7 FA_C_6, FA_C8(12)
#define FA_R_7 FA_R_6 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define FA_C_8 FA_C_7, FA_C8(14)
#define FA_R_8 FA_R_7 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define FA_C_9 FA_C_8, FA_C8(16)
#define FA_R_9 FA_R_8 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define FA_C_10 FA_C_9, FA_C8(18)
#define FA_R_10 FA_R_9 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define FA_C_11 FA_C_10, FA_C8(20)
#define FA_R_11 FA_R_10 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define FA_C_12 FA_C_11, FA_C8(22)
#define FA_R_12 FA_R_11 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define FA_C_13 FA_C_12, FA_C8(24)
#define FA_R_13 FA_R_12 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define FA_C_14 FA_C_13, FA_C8(26)
#define FA_R_14 FA_R_13 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define FA_C_15 FA_C_14, FA_C8(28)
#define FA_R_15 FA_R_14 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define FA_C_16 FA_C_15, FA_C8(30)
#define FA_R_16 FA_R_15 ", %120, %121, %122, %123, %124, %125, %126, %127"

#define FA_WGMMA_SS(columns, types, tail, i, a, b, add_)                                                       \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" #add_ ", 0; wgmma.mma_async.sync.aligned.m64n" #columns types \
               " {" FA_R_##i "}, %" #a ", %" #b ", p, 1, 1" tail ";}"                                          \
               : FA_C_##i                                                                                      \
               : "l"(A), "l"(B), "r"(static_cast<int>(add)))
#define FA_WGMMA_RS(columns, types, tail, i, a0, a1, a2, a3, b, add_)                                          \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" #add_ ", 0; wgmma.mma_async.sync.aligned.m64n" #columns types \
               " {" FA_R_##i "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b ", p, 1, 1" tail ";}"         \
               : FA_C_##i                                                                                      \
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B), "r"(static_cast<int>(add)))
// `i` is columns / 16, r0 … r5 the numbers after the last register of C.
#define FA_WGMMA(columns, i, r0, r1, r2, r3, r4, r5)                                                        \
  template <>                                                                                               \
  struct Wgmma<columns> {                                                                                   \
    template <class Number, bool across>                                                                    \
    static __device__ __forceinline__ void ss(float (&C)[columns / 8][4], std::uint64_t A, std::uint64_t B, \
                                              bool add) {                                                   \
      if constexpr (std::is_same_v<Number, __half>) {                                                       \
        if constexpr (across)                                                                               \
          FA_WGMMA_SS(columns, "k16.f32.f16.f16", ", 0, 1", i, r0, r1, r2);                                 \
        else                                                                                                \
          FA_WGMMA_SS(columns, "k16.f32.f16.f16", ", 0, 0", i, r0, r1, r2);                                 \
      } else if constexpr (std::is_same_v<Number, __nv_bfloat16>) {                                         \
        if constexpr (across)                                                                               \
          FA_WGMMA_SS(columns, "k16.f32.bf16.bf16", ", 0, 1", i, r0, r1, r2);                               \
        else                                                                                                \
          FA_WGMMA_SS(columns, "k16.f32.bf16.bf16", ", 0, 0", i, r0, r1, r2);                               \
      } else {                                                                                              \
        static_assert(sizeof(Number) == 1 && !across); /* e4m3 */                                           \
        FA_WGMMA_SS(columns, "k32.f32.e4m3.e4m3", "", i, r0, r1, r2);                                       \
      }                                                                                                     \
    }                                                                                                       \
    template <class Number, bool across>                                                                    \
    static __device__ __forceinline__ void rs(float (&C)[columns / 8][4], const std::uint32_t (&A)[4],      \
                                              std::uint64_t B, bool add) {                                  \
      if constexpr (std::is_same_v<Number, __half>) {                                                       \
        if constexpr (across)                                                                               \
          FA_WGMMA_RS(columns, "k16.f32.f16.f16", ", 1", i, r0, r1, r2, r3, r4, r5);                        \
        else                                                                                                \
          FA_WGMMA_RS(columns, "k16.f32.f16.f16", ", 0", i, r0, r1, r2, r3, r4, r5);                        \
      } else if constexpr (std::is_same_v<Number, __nv_bfloat16>) {                                         \
        if constexpr (across)                                                                               \
          FA_WGMMA_RS(columns, "k16.f32.bf16.bf16", ", 1", i, r0, r1, r2, r3, r4, r5);                      \
        else                                                                                                \
          FA_WGMMA_RS(columns, "k16.f32.bf16.bf16", ", 0", i, r0, r1, r2, r3, r4, r5);                      \
      } else {                                                                                              \
        static_assert(sizeof(Number) == 1 && !across); /* e4m3 */                                           \
        FA_WGMMA_RS(columns, "k32.f32.e4m3.e4m3", "", i, r0, r1, r2, r3, r4, r5);                           \
      }                                                                                                     \
    }                                                                                                       \
  };
FA_WGMMA(64, 4, 32, 33, 34, 35, 36, 37)
FA_WGMMA(80, 5, 40, 41, 42, 43, 44, 45)
FA_WGMMA(96, 6, 48, 49, 50, 51, 52, 53)
FA_WGMMA(112, 7, 56, 57, 58, 59, 60, 61)
FA_WGMMA(128, 8, 64, 65, 66, 67, 68, 69)
FA_WGMMA(144, 9, 72, 73, 74, 75, 76, 77)
FA_WGMMA(160, 10, 80, 81, 82, 83, 84, 85)
FA_WGMMA(176, 11, 88, 89, 90, 91, 92, 93)
FA_WGMMA(192, 12, 96, 97, 98, 99, 100, 101)
FA_WGMMA(208, 13, 104, 105, 106, 107, 108, 109)
FA_WGMMA(224, 14, 112, 113, 114, 115, 116, 117)
FA_WGMMA(256, 16, 128, 129, 130, 131, 132, 133)
#undef FA_C8
#undef FA_WGMMA_SS
#undef FA_WGMMA_RS
#undef FA_WGMMA

}  // namespace fa::kernels

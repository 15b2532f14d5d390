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

// Shared memory by its 32-bit address: 4 bytes in, 16 bytes out.
__device__ __forceinline__ void store_smem(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ uint4 load_smem_16(std::uint32_t address) {
  uint4 value;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(address)
               : "memory");
  return value;
}

// Writes 16 bytes to global memory, in one piece: four separate stores would leave the SM as partial sectors.
__device__ __forceinline__ void store_global_16(void* global, uint4 value) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(global), "r"(value.x), "r"(value.y), "r"(value.z),
               "r"(value.w)
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

}  // namespace fa::kernels

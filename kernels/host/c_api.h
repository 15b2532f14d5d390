/* The kernels for callers that speak C: ctypes, torch.library. No function throws or prints.
 *
 * A kernel is its index in the list of fa_kernel_*. Functions that can fail return 0 for done and 1 for refused;
 * fa_last_error() then gives the sentence, until the same thread calls again.
 */
#ifndef FA_KERNELS_C_API_H
#define FA_KERNELS_C_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fa_element { FA_FP32 = 0, FA_FP16 = 1, FA_BF16 = 2, FA_E4M3 = 3 };
enum fa_pass { FA_FORWARD = 0, FA_BACKWARD = 1 };

typedef struct fa_problem {
  int32_t batch, heads, kv_heads, n_q, n_kv, d;
  int32_t causal;  /* 0 or 1 */
  int32_t element; /* enum fa_element */
} fa_problem;

/* [batch, n, heads, d] in device memory; strides count numbers; d_stride must be 1. */
typedef struct fa_view {
  void* data;
  int64_t batch_stride, row_stride, head_stride, d_stride;
} fa_view;

/* Of an e4m3 tensor: a scale for every `rows` rows of each head, [batch, heads, ceil(n / rows)]; null: all 1. */
typedef struct fa_scales {
  const float* data;
  int64_t rows;
} fa_scales;

typedef struct fa_args {
  fa_problem problem;
  float scale;
  fa_view q, k, v, o;
  float* lse;                             /* [batch, heads, n_q] */
  fa_view d_out, dq, dk, dv;              /* backward only */
  void* workspace;                        /* fa_workspace_bytes of device memory, at a multiple of 256 */
  void* stream;                           /* a cudaStream_t */
  fa_scales q_scales, k_scales, v_scales; /* e4m3 only */
} fa_args;

/* A tensor of 16 bits to e4m3 (kernels/attention.h, Cast). */
typedef struct fa_cast {
  int32_t element; /* of from: FA_FP16 or FA_BF16 */
  int32_t batch, n, heads, d;
  int32_t rows;   /* that share a scale */
  int32_t rotate; /* 0 or 1 */
  fa_view from, to;
  float* scales; /* [batch, heads, ceil(n / rows)], written */
  void* stream;
} fa_cast;

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

const char* fa_last_error(void);
/* sizeof(fa_args), so that a caller that lays it out by hand can tell whether it still fits. */
int fa_args_bytes(void);

int fa_kernel_count(void);
const char* fa_kernel_name(int kernel);
int fa_kernel_pass(int kernel);
int fa_kernel_d(int kernel);

/* The best kernel for the problem on the current GPU. If there is none, the error says why each was refused. */
int fa_choose(const fa_problem* problem, int pass, int* kernel);
/* 0 if the kernel takes the problem on the current GPU. */
int fa_why_not(int kernel, const fa_problem* problem);

int fa_workspace_bytes(int kernel, const fa_problem* problem, size_t* bytes);
/* Checks the arguments, then enqueues on the stream; does not wait. */
int fa_run(int kernel, const fa_args* args);
/* The same for a cast. */
int fa_quantise(const fa_cast* cast);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif

// The front door of the CUDA kernels: what they take, which there are, which one fits, and how to run it.
//
//   Device device = current_device();
//   Choice choice = choose(problem, Pass::forward, device);        // a kernel, and why not the others
//   Args args{.problem = problem, .q = …, .k = …, .v = …, .o = …, .lse = …, .workspace = …};
//   run(*choice.kernel, args);                                     // checks, then launches on args.stream
//
// Conventions (frozen; DESIGN.md "The kernels"):
// - Views are [batch, n, heads, d] with strides in elements; d is contiguous; rows start at multiples of 16 bytes.
// - d is a multiple of 8 up to 256. A kernel made for a larger d takes a smaller one and pads with zeros in its copies.
// - Causal is aligned bottom-right: query i sees key j if j <= i + n_kv - n_q.
// - LSE is the natural log of the sum of exp(scale * q·k) over the visible keys.
// - A query that sees no key gives O = 0, LSE = -inf and zero gradients.
// - Query head h reads key head h / (heads / kv_heads); dK and dV are summed over that group in fp32.
// - NaN and inf travel as in attention computed in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/pass.h"
#include "sim/config/problem.h"
#include "sim/config/tiling.h"

struct CUstream_st;  // CUDA's stream, so that includers need no CUDA header

namespace fa::kernels {

using Stream = CUstream_st*;  // the same type as cudaStream_t

using fa::Pass;

// A tensor [batch, n, heads, d] in device memory. Strides count elements.
struct View {
  void* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;  // from query (or key) i to i + 1
  std::int64_t head_stride = 0;
  std::int64_t d_stride = 1;  // must be 1: a field so that a caller's transposed tensor is refused, not misread
};

// The view of a packed [batch, n, heads, d] tensor.
constexpr View packed_view(void* data, std::int64_t n, std::int64_t heads, std::int64_t d) {
  return {.data = data, .batch_stride = n * heads * d, .row_stride = heads * d, .head_stride = d};
}

// e4m3 inputs give a bf16 O; every other type keeps itself.
constexpr Element output_element(Element inputs) { return inputs == Element::e4m3 ? Element::bf16 : inputs; }

// The scales of an e4m3 tensor: number = scale · stored, with a scale > 0 for every `rows` rows of each head, as a packed
// [batch, heads, ⌈n / rows⌉] array of fp32. rows >= n: one scale for each head. data null: all of them are 1.
// Keys that one tile of a kernel loads must share a scale: k_scales.rows and v_scales.rows are multiples of the kernel's
// rows_kv, or at least n_kv.
struct Scales {
  const float* data = nullptr;
  int rows = 0;
};

// One call. Forward reads q, k, v and writes o, lse. Backward reads q, k, v, o, lse, d_out and writes dq, dk, dv.
struct Args {
  Problem problem = {};
  float scale = 0;                 // of the scores, > 0; usually 1 / sqrt(d)
  View q = {}, k = {}, v = {};     // [batch, n_q, heads, d], [batch, n_kv, kv_heads, d] twice
  View o = {};                     // [batch, n_q, heads, d]
  float* lse = nullptr;            // [batch, heads, n_q], packed
  View d_out = {};                 // dO, as o
  View dq = {}, dk = {}, dv = {};  // as q, k, v
  void* workspace = nullptr;       // workspace_bytes() of device memory at a multiple of 256; may hold anything
  Stream stream = nullptr;
  Scales q_scales = {}, k_scales = {}, v_scales = {};  // of e4m3 inputs
};

// What decides whether a kernel runs on a GPU.
struct Device {
  std::string name = {};       // "NVIDIA H200"
  int compute_capability = 0;  // 10 * major + minor
  int multiprocessors = 0;
  int shared_memory_per_block = 0;  // bytes, with opt-in
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
};

// The GPU that CUDA would use now. Throws std::runtime_error with one line if there is none.
Device current_device();

// One row of the list: an algorithm, for one pass and one native head dimension, as it was compiled.
struct Kernel {
  std::string_view name = {};       // "flash2", "flash2_swizzle": the same in each row of one file of source
  std::string_view algorithm = {};  // the simulator's program that moves the same bytes: "naive", "flash1", …
  Pass pass = Pass::forward;
  int d = 0;           // native head dimension: takes every multiple of 8 up to it
  Tiling tiling = {};  // the very constant that the kernel was compiled with
  std::span<const Element> elements = {};
  bool takes_full = true;  // without a mask
  bool takes_causal = true;
  int min_cc = 0;  // compute capabilities that it runs on, 10 * major + minor
  int max_cc = 999;
  bool tensor_maps = false;  // reads and writes views through the copy engine (TMA): no stride leads backwards
  int shared_memory = 0;     // bytes of shared memory that one block asks for
  void (*launch)(const Args&) = nullptr;                     // enqueues on args.stream; throws if CUDA refuses a launch
  std::size_t (*workspace_bytes)(const Problem&) = nullptr;  // null: none
};

// Every compiled kernel, best first; a readable table in kernels/list.cu.
std::span<const Kernel> kernels();

std::size_t workspace_bytes(const Kernel& kernel, const Problem& problem);

// A full sentence that says why this kernel cannot take the problem (on this device), or nothing.
std::optional<std::string> why_not(const Kernel& kernel, const Problem& problem);
std::optional<std::string> why_not(const Kernel& kernel, const Problem& problem, const Device& device);

struct Refusal {
  const Kernel* kernel;
  std::string sentence;
};
struct Choice {
  const Kernel* kernel = nullptr;  // the first of the list that takes the problem, or null
  std::string sentence;            // why this one, or that none can
  std::vector<Refusal> refused;    // every other kernel of this pass, with the reason
};
Choice choose(const Problem& problem, Pass pass, const Device& device, std::span<const Kernel> from = kernels());

// A full sentence that names the wrong argument and what would work, or nothing. Launches nothing.
std::optional<std::string> why_invalid(const Args& args, Pass pass);
// The same, and what this kernel cannot do with such views.
std::optional<std::string> why_invalid(const Args& args, const Kernel& kernel);

// Checks the arguments, answers n_q = 0 and n_kv = 0 itself, else launches.
// Throws std::invalid_argument with the sentence, before anything was launched.
void run(const Kernel& kernel, const Args& args);

// A tensor [batch, n, heads, d] of 16 bits on its way to e4m3: the largest number of every `rows` rows becomes 448, the
// largest of e4m3, and `scales` (laid out as in Scales) take what that divided by. `rotate` multiplies each row by an
// orthogonal matrix first, random signs and then a Hadamard transform, the same for every tensor: Q Kᵀ stays what it was if
// both are rotated, and an outlier spreads over its row.   [FA-3 §3.3]
struct Cast {
  Element element = Element::bf16;  // of `from`: fp16 or bf16
  int batch = 1, n = 0, heads = 1, d = 64;
  View from = {}, to = {};
  float* scales = nullptr;
  int rows = 128;
  bool rotate = false;
  Stream stream = nullptr;
};

// A full sentence that names the wrong argument and what would work, or nothing. Launches nothing.
std::optional<std::string> why_invalid(const Cast& cast);

// Checks the arguments, then launches. Throws std::invalid_argument with the sentence, before anything was launched.
void quantise(const Cast& cast);

// For checks of 8 bits, on sm_90: S = scale · Q Kᵀ of one head, [n_q, n_kv] doubles on the device, each sum as the tensor cores
// give it (to about 14 bits). Reads problem, scale, q, k and their scales.
void tensor_core_scores(const Args& args, int batch, int head, double* S);

}  // namespace fa::kernels

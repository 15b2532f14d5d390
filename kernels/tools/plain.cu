#include <algorithm>
#include <type_traits>

#include "kernels/tools/number.cuh"
#include "kernels/tools/plain.h"

namespace fa::kernels {
namespace {

// What storing a matrix does to its numbers: nothing in double, a rounding in the plain version.
template <class T>
struct Store {
  Element element;
  __device__ T operator()(T value) const {
    if constexpr (std::is_same_v<T, double>)
      return value;
    else
      return rounded(value, element);
  }
};

// P as it is stored for the second product. In 8 bits as 256 · P: e4m3 ends at 448, and would store a P of 1 / 1024 as 0.
template <class T>
struct StoreP {
  Element inputs;
  Store<T> store;
  __device__ T operator()(T exponential, T total) const {
    if constexpr (!std::is_same_v<T, double>)
      if (inputs == Element::e4m3) return rounded(256 * exponential / total, inputs) / 256;
    return store(exponential / total);
  }
};

// Matrices of one head each, `head` numbers apart. Matrix z of a launch belongs to head (first + z) / group.
template <class T>
struct Matrices {
  T* data;
  std::int64_t row, col, head;
  int first = 0, group = 1;
  __device__ T* of(int z) const { return data + (first + z) / group * head; }
};
template <class T>
Matrices<T> transposed(Matrices<T> m) {
  return {m.data, m.col, m.row, m.head, m.first, m.group};
}

constexpr int tile = 64, depth = 16, side = 4;  // a block of 16 × 16 threads, each with side × side results

// C = store(alpha · A B), A [m, k], B [k, n].
template <class T>
__global__ void multiply(Matrices<T> a, Matrices<T> b, Matrices<T> c, int m, int n, int k, T alpha, Store<T> store) {
  __shared__ T a_tile[depth][tile + 1], b_tile[depth][tile + 1];
  const T* const A = a.of(static_cast<int>(blockIdx.z));
  const T* const B = b.of(static_cast<int>(blockIdx.z));
  const int row0 = static_cast<int>(blockIdx.y) * tile, col0 = static_cast<int>(blockIdx.x) * tile;
  const int thread = static_cast<int>(threadIdx.x), tx = thread % 16, ty = thread / 16;
  T sum[side][side] = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
    for (int i = thread; i < tile * depth; i += 256) {
      const int r = i / depth, s = i % depth;
      a_tile[s][r] = row0 + r < m && k0 + s < k ? A[(row0 + r) * a.row + (k0 + s) * a.col] : T(0);
      b_tile[s][r] = col0 + r < n && k0 + s < k ? B[(k0 + s) * b.row + (col0 + r) * b.col] : T(0);
    }
    __syncthreads();  // both tiles are whole
    for (int s = 0; s < depth; ++s)
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) sum[i][j] += a_tile[s][ty + 16 * i] * b_tile[s][tx + 16 * j];
    __syncthreads();  // nobody reads them any more
  }
  T* const C = c.of(static_cast<int>(blockIdx.z));
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row < m && col < n) C[row * c.row + col * c.col] = store(alpha * sum[i][j]);
    }
}

template <class T, class Join>
__device__ T over_block(T value, Join join) {
  __shared__ T parts[loop_threads];
  __syncthreads();  // an earlier call's parts have been read
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = loop_threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  return parts[0];
}
struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// S becomes P, one block a row; keys beyond the visible ones get 0, and a row without any gives LSE = -inf.
template <class T>
__global__ void softmax_rows(T* s, T* lse, int n_q, int n_kv, int causal, StoreP<T> store) {
  const std::int64_t row = blockIdx.x + std::int64_t{gridDim.x} * blockIdx.y;  // y: head
  const std::int64_t last = causal ? std::int64_t{blockIdx.x} + n_kv - n_q + 1 : n_kv;
  const int visible = static_cast<int>(last < 0 ? 0 : last > n_kv ? n_kv : last);
  T* const S = s + row * n_kv;
  const T infinity = static_cast<T>(__builtin_huge_val());
  T largest = -infinity, total = 0;
  for (int j = static_cast<int>(threadIdx.x); j < visible; j += loop_threads) largest = Larger()(S[j], largest);
  largest = over_block(largest, Larger());
  const T shift = largest == -infinity ? T(0) : largest;  // all of -inf: exp(-inf - 0) = 0, not NaN
  for (int j = static_cast<int>(threadIdx.x); j < visible; j += loop_threads) total += exp(S[j] - shift);
  total = over_block(total, Add());
  for (int j = static_cast<int>(threadIdx.x); j < n_kv; j += loop_threads)
    S[j] = j < visible && total != T(0) ? store(exp(S[j] - shift), total) : T(0);
  if (threadIdx.x == 0) lse[row] = total == T(0) ? -infinity : shift + log(total);
}

// dP becomes dS = P ∘ (dP − D), D = rowsum(P ∘ dP); one block a row.
template <class T>
__global__ void softmax_gradient_rows(const T* p, T* dp, int n_kv, Store<T> store) {
  const std::int64_t row = blockIdx.x + std::int64_t{gridDim.x} * blockIdx.y;
  const T* const P = p + row * n_kv;
  T* const dP = dp + row * n_kv;
  T sum = 0;
  for (int j = static_cast<int>(threadIdx.x); j < n_kv; j += loop_threads) sum += P[j] * dP[j];
  sum = over_block(sum, Add());
  for (int j = static_cast<int>(threadIdx.x); j < n_kv; j += loop_threads) dP[j] = store(P[j] * (dP[j] - sum));
}

template <class T>
__global__ void scale_numbers(const T* from, T* to, std::int64_t count, T scale, Store<T> store) {
  FA_GRID_LOOP(i, count) to[i] = store(from[i] * scale);
}

// Gradients of the query heads of a group, summed into their key head.
template <class T>
__global__ void sum_groups(const T* of_heads, T* to, std::int64_t count, std::int64_t head_size, int group,
                           Store<T> store) {
  FA_GRID_LOOP(i, count) {
    const std::int64_t head = i / head_size, place = i % head_size;
    T sum = 0;
    for (int g = 0; g < group; ++g) sum += of_heads[(head * group + g) * head_size + place];
    to[i] = store(sum);
  }
}

constexpr std::size_t largest_matrix = std::size_t{1} << 32;  // bytes of S that are worked on at once

template <class T>
class Plain {
 public:
  Plain(const Inputs& inputs, Element element)
      : p_(inputs.problem),
        scale_(static_cast<T>(inputs.scale)),
        inputs_(inputs),
        store_{element},
        group_(p_.heads / p_.kv_heads),
        heads_(static_cast<int>(p_.heads_total())),
        kv_heads_(static_cast<int>(p_.kv_heads_total())),
        q_size_(std::int64_t{p_.n_q} * p_.d),
        kv_size_(std::int64_t{p_.n_kv} * p_.d) {}

  Answer<T> run() {
    q_ = numbers(inputs_.q, inputs_.q_scales);
    v_ = numbers(inputs_.v, inputs_.v_scales);
    const DeviceBuffer k = numbers(inputs_.k, inputs_.k_scales);
    k_ = array(kv_heads_ * kv_size_);  // scaled, as frameworks and the official suites' baseline have it
    loop(scale_numbers<T>, kv_heads_ * kv_size_, k.as<T>(), k_.as<T>(), kv_heads_ * kv_size_, scale_, store_);
    answer_.o = array(heads_ * q_size_);
    answer_.lse = array(heads_ * std::int64_t{p_.n_q});
    const bool backward = inputs_.d_out != nullptr;
    if (backward) {
      d_out_ = numbers(*inputs_.d_out, {});
      answer_.dq = array(heads_ * q_size_);
      dk_heads_ = array(heads_ * kv_size_);
      dv_heads_ = array(heads_ * kv_size_);
    }
    const std::size_t matrix = sizeof(T) * static_cast<std::size_t>(p_.n_q) * static_cast<std::size_t>(p_.n_kv);
    const int at_once = static_cast<int>(
        std::clamp<std::size_t>(largest_matrix / matrix, 1, static_cast<std::size_t>(std::min(heads_, 65535))));
    s_ = DeviceBuffer(matrix * static_cast<std::size_t>(at_once));
    if (backward) ds_ = DeviceBuffer(s_.bytes());
    for (int first = 0; first < heads_; first += at_once) some_heads(first, std::min(at_once, heads_ - first));
    if (backward) {
      answer_.dk = array(kv_heads_ * kv_size_);
      answer_.dv = array(kv_heads_ * kv_size_);
      for (auto [from, to] : {std::pair{&dk_heads_, &answer_.dk}, std::pair{&dv_heads_, &answer_.dv}})
        loop(sum_groups<T>, kv_heads_ * kv_size_, from->template as<T>(), to->template as<T>(), kv_heads_ * kv_size_,
             kv_size_, group_, store_);
    }
    must(cudaDeviceSynchronize(), "computing the reference");
    return std::move(answer_);
  }

 private:
  void some_heads(int first, int count) {
    const int n_q = p_.n_q, n_kv = p_.n_kv, d = p_.d;
    const auto of_queries = [&](const DeviceBuffer& b) { return Matrices<T>{b.as<T>(), d, 1, q_size_, first}; };
    const auto of_keys = [&](const DeviceBuffer& b) { return Matrices<T>{b.as<T>(), d, 1, kv_size_, first, group_}; };
    const auto per_head = [&](const DeviceBuffer& b) { return Matrices<T>{b.as<T>(), d, 1, kv_size_, first}; };
    const auto scores = [&](const DeviceBuffer& b) {
      return Matrices<T>{b.as<T>(), n_kv, 1, std::int64_t{n_q} * n_kv};
    };
    const dim3 rows(static_cast<unsigned>(n_q), static_cast<unsigned>(count));

    product(of_queries(q_), transposed(of_keys(k_)), scores(s_), n_q, n_kv, d, T(1), count);  // S = Q (scale K)ᵀ
    softmax_rows<<<rows, loop_threads>>>(s_.as<T>(), answer_.lse.template as<T>() + std::int64_t{first} * n_q, n_q,
                                         n_kv, p_.causal, StoreP<T>{p_.element, store_});
    product(scores(s_), of_keys(v_), of_queries(answer_.o), n_q, d, n_kv, T(1), count);  // O = P V
    if (inputs_.d_out == nullptr) return;
    product(transposed(scores(s_)), of_queries(d_out_), per_head(dv_heads_), n_kv, d, n_q, T(1), count);  // dV=PᵀdO
    product(of_queries(d_out_), transposed(of_keys(v_)), scores(ds_), n_q, n_kv, d, T(1), count);  // dP = dO Vᵀ
    softmax_gradient_rows<<<rows, loop_threads>>>(s_.as<T>(), ds_.as<T>(), n_kv, store_);
    product(scores(ds_), of_keys(k_), of_queries(answer_.dq), n_q, d, n_kv, T(1), count);  // dQ = dS (scale K)
    product(transposed(scores(ds_)), of_queries(q_), per_head(dk_heads_), n_kv, d, n_q, scale_,
            count);  // dK = scale dSᵀ Q
  }

  void product(Matrices<T> a, Matrices<T> b, Matrices<T> c, int m, int n, int k, T alpha, int count) {
    const dim3 grid(static_cast<unsigned>((n + tile - 1) / tile), static_cast<unsigned>((m + tile - 1) / tile),
                    static_cast<unsigned>(count));
    multiply<T><<<grid, 256>>>(a, b, c, m, n, k, alpha, store_);
    must(cudaGetLastError(), "multiplying matrices for the reference");
  }

  template <class Function, class... Arguments>
  void loop(Function kernel, std::int64_t count, Arguments... arguments) {
    kernel<<<loop_blocks(count), loop_threads>>>(arguments...);
    must(cudaGetLastError(), "computing the reference");
  }

  DeviceBuffer array(std::int64_t count) { return DeviceBuffer(static_cast<std::size_t>(count) * sizeof(T)); }
  DeviceBuffer numbers(const Tensor& t, const Scales& scales) {
    DeviceBuffer packed = array(t.count());
    loop(unpack_numbers<T>, t.count(), numbers_of(t), scales, packed.as<T>());
    return packed;
  }

  const Problem p_;
  const T scale_;
  const Inputs& inputs_;
  const Store<T> store_;
  const int group_, heads_, kv_heads_;
  const std::int64_t q_size_, kv_size_;  // numbers of one head
  DeviceBuffer q_, k_, v_, d_out_, s_, ds_, dk_heads_, dv_heads_;
  Answer<T> answer_;
};

}  // namespace

Answer<double> reference_attention(const Inputs& inputs) { return Plain<double>(inputs, Element::fp32).run(); }

Answer<float> plain_attention(const Inputs& inputs) {
  return Plain<float>(inputs, output_element(inputs.problem.element)).run();
}

DeviceBuffer tensor_core_lse(const Inputs& inputs) {
  const Problem& p = inputs.problem;
  const auto doubles = [](std::int64_t count) {
    return DeviceBuffer(static_cast<std::size_t>(count) * sizeof(double));
  };
  const DeviceBuffer s = doubles(std::int64_t{p.n_q} * p.n_kv);
  DeviceBuffer lse = doubles(p.heads_total() * p.n_q);
  const Args args{.problem = p,
                  .scale = static_cast<float>(inputs.scale),
                  .q = inputs.q.view(),
                  .k = inputs.k.view(),
                  .q_scales = inputs.q_scales,
                  .k_scales = inputs.k_scales};
  for (int head = 0; head < p.heads_total(); ++head) {
    tensor_core_scores(args, head / p.heads, head % p.heads, s.as<double>());
    softmax_rows<<<static_cast<unsigned>(p.n_q), loop_threads>>>(s.as<double>(),
                                                                 lse.as<double>() + std::int64_t{head} * p.n_q, p.n_q,
                                                                 p.n_kv, p.causal, StoreP<double>{p.element, {}});
    must(cudaGetLastError(), "computing the reference");
  }
  must(cudaDeviceSynchronize(), "computing the reference");
  return lse;
}

}  // namespace fa::kernels

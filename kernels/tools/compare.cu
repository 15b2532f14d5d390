#include "kernels/tools/compare.h"

#include "kernels/tools/number.cuh"

namespace fa::kernels {
namespace {

// Maxima of non-negative doubles order as their bits do.
__device__ void raise(double* to, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(__double_as_longlong(value)));
}
__device__ bool same_kind(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return a == b;
  return true;
}

__global__ void compare_numbers(Numbers out, const double* reference, const float* plain, Difference* difference) {
  double error = 0, plain_error = 0, stored_error = 0, rounding = 0;
  unsigned long long wrong = 0;
  FA_GRID_LOOP(i, out.count()) {
    const auto place = out.place(i);
    const double truth = reference[out.packed(place)];
    const double value = out.load(place), other = plain[out.packed(place)];
    const float r = rounded(static_cast<float>(truth), out.element);
    if (!same_kind(value, r)) ++wrong;
    if (!isfinite(value) || !isfinite(r)) continue;
    error = fmax(error, fabs(value - truth));
    if (isfinite(other)) plain_error = fmax(plain_error, fabs(other - truth));
    stored_error = fmax(stored_error, fabs(r - truth));
    const float moved = rounded(rounded(r + 0.3f, out.element) - 0.3f, out.element);
    rounding = fmax(rounding, fabs(static_cast<double>(moved) - r));
  }
  raise(&difference->error, error);
  raise(&difference->plain_error, plain_error);
  raise(&difference->stored_error, stored_error);
  raise(&difference->rounding, rounding);
  if (wrong != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&difference->wrong_kind), wrong);
}

__global__ void compare_logs(const float* out, const double* reference, const float* plain, std::int64_t count,
                             Difference* difference) {
  double error = 0, plain_error = 0;
  unsigned long long wrong = 0;
  FA_GRID_LOOP(i, count) {
    const double truth = reference[i], unit = fmax(1.0, fabs(truth));
    if (!same_kind(out[i], truth)) ++wrong;
    if (!isfinite(truth)) continue;
    if (isfinite(out[i])) error = fmax(error, fabs(out[i] - truth) / unit);
    if (isfinite(plain[i])) plain_error = fmax(plain_error, fabs(plain[i] - truth) / unit);
  }
  raise(&difference->error, error);
  raise(&difference->plain_error, plain_error);
  if (wrong != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&difference->wrong_kind), wrong);
}

template <class Launch>
Difference compared(Launch launch) {
  const DeviceBuffer device(sizeof(Difference));
  Difference difference;
  must(cudaMemcpy(device.data(), &difference, sizeof difference, cudaMemcpyHostToDevice), "clearing a comparison");
  launch(device.as<Difference>());
  must(cudaGetLastError(), "comparing with the reference");
  must(cudaMemcpy(&difference, device.data(), sizeof difference, cudaMemcpyDeviceToHost), "running a kernel");
  return difference;
}

}  // namespace

std::vector<double> host_numbers(const Tensor& tensor, const Scales& scales) {
  const DeviceBuffer packed(static_cast<std::size_t>(tensor.count()) * sizeof(double));
  unpack_numbers<<<loop_blocks(tensor.count()), loop_threads>>>(numbers_of(tensor), scales, packed.as<double>());
  must(cudaGetLastError(), "reading a tensor");
  return host_numbers(packed);
}

std::vector<double> host_numbers(const DeviceBuffer& doubles) {
  std::vector<double> host(doubles.bytes() / sizeof(double));
  must(cudaMemcpy(host.data(), doubles.data(), doubles.bytes(), cudaMemcpyDeviceToHost), "reading an array");
  return host;
}

Difference compare(const Tensor& out, const DeviceBuffer& reference, const DeviceBuffer& plain) {
  if (out.count() == 0) return {};
  return compared([&](Difference* to) {
    compare_numbers<<<loop_blocks(out.count()), loop_threads>>>(numbers_of(out), reference.as<double>(),
                                                                plain.as<float>(), to);
  });
}

Difference compare_lse(const float* out, const DeviceBuffer& reference, const DeviceBuffer& plain) {
  const auto count = static_cast<std::int64_t>(reference.bytes() / sizeof(double));
  if (count == 0) return {};
  return compared([&](Difference* to) {
    compare_logs<<<loop_blocks(count), loop_threads>>>(out, reference.as<double>(), plain.as<float>(), count, to);
  });
}

}  // namespace fa::kernels

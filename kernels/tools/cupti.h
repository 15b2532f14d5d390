// CUPTI's calls take one struct each, which must know its own size; and its results as sentences.
#pragma once

#include <cupti_result.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace fa::kernels {

// A zeroed parameter struct: `auto p = FA_CUPTI(CUpti_X_Params)`.
#define FA_CUPTI(Params) sized<Params>(Params##_STRUCT_SIZE)
template <class Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

inline void check_cupti(CUptiResult result, const char* doing) {
  if (result == CUPTI_SUCCESS) return;
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES || result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    throw std::runtime_error(
        "the driver keeps hardware counters for administrators (ERR_NVGPUCTRPERM): run as root, or load the nvidia "
        "module with "
        "NVreg_RestrictProfilingToAdminUsers=0");
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  throw std::runtime_error(std::string("CUPTI failed while ") + doing + ": " +
                           (text != nullptr ? text : "unknown error") + " (" +
                           std::to_string(static_cast<int>(result)) + ")");
}

}  // namespace fa::kernels

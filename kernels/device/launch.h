// Starting a kernel that may want more shared memory than the default 48 KB.
#pragma once

#include "kernels/attention.h"
#include "kernels/host/cuda.h"

namespace fa::kernels {

// The kernel takes Args and then `more`, by value.
template <class... More>
void launch(void (*kernel)(Args, More...), dim3 grid, int threads, int shared_memory, const Args& args, More... more) {
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_memory),
        "asking for shared memory");
  void* arguments[] = {const_cast<Args*>(&args), &more...};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(threads), arguments, shared_memory,
                         args.stream),
        "launching a kernel");
}

}  // namespace fa::kernels

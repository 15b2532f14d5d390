# Sets FA_HAVE_CUDA and enables the CUDA language, where FA_CUDA and the machine allow it.

set(FA_HAVE_CUDA FALSE)
if(FA_CUDA STREQUAL "OFF" OR EMSCRIPTEN OR NOT EXISTS "${PROJECT_SOURCE_DIR}/kernels/CMakeLists.txt")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(FA_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA: no nvcc; kernels are left out")
    return()
  endif()
  message(FATAL_ERROR "FA_CUDA=${FA_CUDA}, but there is no nvcc: put it on PATH, set CUDACXX, or use FA_CUDA=OFF")
endif()

# flash3 needs the architecture-specific sm_90a; 80 is what flash2 asks for at least.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80-real;90a-real")
endif()
enable_language(CUDA)
# CMake 3.25.1 does not know that nvcc 12 and later take C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.0)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
find_package(CUDAToolkit REQUIRED)
set(FA_HAVE_CUDA TRUE)
message(STATUS "CUDA: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

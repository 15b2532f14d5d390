# Every third-party library comes through here. Each is looked for in this order, and one line says which was taken:
#   1. a source tree that you name: -DFETCHCONTENT_SOURCE_DIR_<NAME>=/path
#   2. the system's package
#   3. a source package from a registry (Dear ImGui and ImPlot only, see imgui.cmake)
#   4. a pinned download, unless FA_DOWNLOAD=OFF
# Else the configuration stops at once and names the apt package.

include(FetchContent)
set(FETCHCONTENT_QUIET ON)

# A browser build must not see /usr/include: it gets the wanted folder of it, and nothing else.
function(fa_system_header out header)
  get_filename_component(folder "${header}" DIRECTORY)
  find_path(FA_INCLUDE_${out} "${header}" PATHS /usr/include /usr/local/include PATH_SUFFIXES stb NO_CMAKE_FIND_ROOT_PATH)
  set(dir "${FA_INCLUDE_${out}}")
  if(dir AND EMSCRIPTEN AND folder)
    file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/system_include")
    file(CREATE_LINK "${dir}/${folder}" "${CMAKE_BINARY_DIR}/system_include/${folder}" SYMBOLIC)
    set(dir "${CMAKE_BINARY_DIR}/system_include")
  endif()
  set(${out} "${dir}" PARENT_SCOPE)
endfunction()

# fa_missing(NAME APT packages URL url): the one error that all of them end in.
function(fa_missing name apt url)
  string(TOUPPER "${name}" upper)
  message(FATAL_ERROR "\n  '${name}' is missing. Any one of these helps:\n"
                      "    apt-get install ${apt}\n"
                      "    -DFETCHCONTENT_SOURCE_DIR_${upper}=/path/to/its/source\n"
                      "    -DFA_DOWNLOAD=ON   (takes ${url})\n")
endfunction()

# fa_download(NAME URL [SHA256]): makes the source available; ${name}_SOURCE_DIR is then set in the caller.
macro(fa_download name url sha256)
  set(_hash "")
  if(NOT "${sha256}" STREQUAL "")
    set(_hash URL_HASH "SHA256=${sha256}")
  endif()
  FetchContent_Declare(${name} URL "${url}" ${_hash} DOWNLOAD_EXTRACT_TIMESTAMP ON SYSTEM)
  FetchContent_MakeAvailable(${name})
endmacro()

# fa_dependency(NAME TARGET t APT packages URL url [SHA256 hash] [PACKAGE p [VERSION v]] [HEADER file])
#   PACKAGE: what find_package looks for; HEADER: a file that is enough to use the library without compiling it.
function(fa_dependency name)
  cmake_parse_arguments(PARSE_ARGV 1 dep "" "TARGET;APT;URL;SHA256;PACKAGE;VERSION;HEADER" "")
  string(TOUPPER "${name}" upper)

  if(FETCHCONTENT_SOURCE_DIR_${upper})
    set(taken "source tree ${FETCHCONTENT_SOURCE_DIR_${upper}}")
  else()
    if(dep_PACKAGE AND NOT EMSCRIPTEN)
      find_package(${dep_PACKAGE} ${dep_VERSION} QUIET CONFIG GLOBAL)
      set(taken "system package ${${dep_PACKAGE}_VERSION}")
    elseif(dep_HEADER)
      fa_system_header(found "${dep_HEADER}")
      if(found)
        add_library(${dep_TARGET} INTERFACE IMPORTED GLOBAL)
        target_include_directories(${dep_TARGET} INTERFACE "${found}")
        set(taken "system headers")
      endif()
    endif()
    if(NOT TARGET ${dep_TARGET} AND NOT FA_DOWNLOAD)
      fa_missing(${name} "${dep_APT}" "${dep_URL}")
    endif()
  endif()

  if(NOT TARGET ${dep_TARGET})
    if(NOT FETCHCONTENT_SOURCE_DIR_${upper})
      set(taken "download ${dep_URL}")
      message(STATUS "${name}: not on this machine (apt: ${dep_APT}); downloading ${dep_URL}")
    endif()
    fa_download(${name} "${dep_URL}" "${dep_SHA256}")
    if(NOT TARGET ${dep_TARGET})  # a library of headers, with no CMake of its own
      add_library(${dep_TARGET} INTERFACE IMPORTED GLOBAL)
      target_include_directories(${dep_TARGET} INTERFACE "${${name}_SOURCE_DIR}")
    endif()
  endif()
  set(${name}_SOURCE_DIR "${${name}_SOURCE_DIR}" PARENT_SCOPE)
  message(STATUS "${name}: ${taken}")
endfunction()

fa_dependency(fmt TARGET fmt::fmt PACKAGE fmt VERSION 9 HEADER fmt/format.h APT libfmt-dev
  URL https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz
  SHA256 1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811)
fa_dependency(nlohmann_json TARGET nlohmann_json::nlohmann_json PACKAGE nlohmann_json VERSION 3.9 HEADER nlohmann/json.hpp
  APT nlohmann-json3-dev
  URL https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz
  SHA256 0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406)
fa_dependency(cli11 TARGET CLI11::CLI11 PACKAGE CLI11 VERSION 2.1 HEADER CLI/CLI.hpp APT libcli11-dev
  URL https://github.com/CLIUtils/CLI11/archive/v2.4.2.tar.gz
  SHA256 f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a)
if(EMSCRIPTEN)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)  # the system's library is not for this machine
endif()

if(FA_TESTS AND NOT EMSCRIPTEN)
  # No version: 2.13 and 3 both serve, see tests/catch.h.
  fa_dependency(catch2 TARGET Catch2::Catch2 PACKAGE Catch2 APT catch2
    URL https://github.com/catchorg/Catch2/archive/v3.6.0.tar.gz
    SHA256 485932259a75c7c6b72d4b874242c489ea5155d17efa345eb8cc72159f49f356)
  list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}" "${catch2_SOURCE_DIR}/extras")  # for include(Catch)
  set(BENCHMARK_ENABLE_TESTING OFF)
  fa_dependency(benchmark TARGET benchmark::benchmark PACKAGE benchmark APT libbenchmark-dev
    URL https://github.com/google/benchmark/archive/refs/tags/v1.8.2.tar.gz
    SHA256 2aab2980d0376137f969d92848fbb68216abb07633034534fc8c65cc4e7a0e93)
endif()

if(FA_VIZ)
  fa_dependency(stb TARGET stb::stb HEADER stb_image_write.h APT libstb-dev
    URL https://github.com/nothings/stb/archive/8b5f1f37b5b75829fc72d38e7b5d4bcbf8a26d55.zip
    SHA256 93a16ee3e866e719feec459f6f132cce932c5ec751eb38e3ec1975f911353d2e)
  if(NOT EMSCRIPTEN)
    set(GLFW_BUILD_EXAMPLES OFF)
    set(GLFW_BUILD_TESTS OFF)
    set(GLFW_BUILD_DOCS OFF)
    fa_dependency(glfw TARGET glfw PACKAGE glfw3 VERSION 3.3 APT libglfw3-dev
      URL https://github.com/glfw/glfw/archive/refs/tags/3.4.tar.gz
      SHA256 c038d34200234d071fae9345bc455e4a8f2f544ab60150765d7704e08f3dac01)
    find_package(OpenGL QUIET COMPONENTS OpenGL EGL)
    if(NOT TARGET OpenGL::OpenGL OR NOT TARGET OpenGL::EGL)
      message(FATAL_ERROR "\n  OpenGL or EGL is missing. Either of these helps:\n"
                          "    apt-get install libopengl-dev libegl-dev\n"
                          "    -DFA_VIZ=OFF   (no visualizer)\n")
    endif()
    message(STATUS "OpenGL, EGL: system package")
  endif()
  include(imgui)
endif()

# What every target of ours shares: C++20, warnings, sanitizers, includes from the root of the repository.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # clang-tidy and editors read it
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# fa_target(NAME [PUBLIC lib…] [PRIVATE lib…]): the settings of our own code. Third-party code never gets them; under the
# sanitizers ImPlot alone would take minutes.
function(fa_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE")
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-sign-conversion;-Wshadow>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarms of GCC 12: string concatenation (its bug 105651), and optionals and deques under the sanitizers.
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-maybe-uninitialized>")
  endif()
  if(FA_WERROR)
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
  endif()
  if(FA_SANITIZE)
    target_compile_options(${name} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FA_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
    target_link_options(${name} PUBLIC -fsanitize=${FA_SANITIZE})
  endif()
endfunction()

# fa_sources(OUT dir…): every .cpp directly in these folders; a new file is picked up by the next build.
function(fa_sources out)
  set(patterns "")
  foreach(dir IN LISTS ARGN)
    list(APPEND patterns "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp")
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS ${patterns})
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

if(EMSCRIPTEN)
  add_compile_options(-fwasm-exceptions)  # 2 % larger; -fexceptions costs 9 %
  add_link_options(-fwasm-exceptions)
endif()

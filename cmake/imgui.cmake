# Dear ImGui and ImPlot, which must match: ImPlot 1.0 needs ImGui 1.92 or later, and no distribution packages ImPlot.
# So the system's ImGui is never taken (1.86 would lose clicks and keys besides), and both come from one place: a source
# distribution on PyPI that carries unchanged trees of the two.
#   fa_imgui           ImGui + ImPlot: draw lists only, no window, no OpenGL
#   fa_imgui_backends  its GLFW and OpenGL 3 backends (native builds)

set(imgui_least 1.92)
set(imgui_url https://github.com/ocornut/imgui/archive/refs/tags/v1.92.7.tar.gz)
set(implot_url https://github.com/epezent/implot/archive/refs/tags/v1.0.tar.gz)
set(implot_sha256 e4a9db64eef7bcc604e2a5ea380af124eb97aa3e8a6a96330079c88add0f7e93)

# fa_imgui_sources(): sets imgui_SOURCE_DIR, implot_SOURCE_DIR and `taken`.
macro(fa_imgui_sources)
  set(external "${PROJECT_SOURCE_DIR}/external")
  if(FETCHCONTENT_SOURCE_DIR_IMGUI AND FETCHCONTENT_SOURCE_DIR_IMPLOT)
    set(imgui_SOURCE_DIR "${FETCHCONTENT_SOURCE_DIR_IMGUI}")
    set(implot_SOURCE_DIR "${FETCHCONTENT_SOURCE_DIR_IMPLOT}")
    set(taken "source trees ${imgui_SOURCE_DIR}, ${implot_SOURCE_DIR}")
  else()
    execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/get_imgui.sh" "${external}"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT failed)
      set(imgui_SOURCE_DIR "${external}/imgui")
      set(implot_SOURCE_DIR "${external}/implot")
      set(taken "PyPI source distribution, in external/")
    elseif(FA_DOWNLOAD)
      message(STATUS "imgui: no source distribution (${said}); downloading ${imgui_url}")
      fa_download(imgui ${imgui_url} "")
      fa_download(implot ${implot_url} ${implot_sha256})
      set(taken "download")
    else()
      message(STATUS "${said}")
      fa_missing(imgui python3-pip ${imgui_url})
    endif()
  endif()
endmacro()

fa_imgui_sources()
file(STRINGS "${imgui_SOURCE_DIR}/imgui.h" version REGEX "^#define IMGUI_VERSION +\"")
string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" version "${version}")
if(version VERSION_LESS imgui_least)
  message(FATAL_ERROR "Dear ImGui ${version} in ${imgui_SOURCE_DIR} is too old: ImPlot 1.0 needs ${imgui_least} or later")
endif()
message(STATUS "imgui ${version}, implot: ${taken}")

add_library(fa_imgui STATIC
  "${imgui_SOURCE_DIR}/imgui.cpp" "${imgui_SOURCE_DIR}/imgui_draw.cpp"
  "${imgui_SOURCE_DIR}/imgui_tables.cpp" "${imgui_SOURCE_DIR}/imgui_widgets.cpp"
  "${implot_SOURCE_DIR}/implot.cpp" "${implot_SOURCE_DIR}/implot_items.cpp")
target_include_directories(fa_imgui SYSTEM PUBLIC "${imgui_SOURCE_DIR}" "${implot_SOURCE_DIR}")
# Plots take float and double series: all ten number types at -O3 would cost a minute and a half of compile time.
target_compile_definitions(fa_imgui PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)")
set_source_files_properties("${implot_SOURCE_DIR}/implot_items.cpp" PROPERTIES COMPILE_OPTIONS -O1)

target_compile_options(fa_imgui PRIVATE -w)

if(NOT EMSCRIPTEN)
  add_library(fa_imgui_backends STATIC
    "${imgui_SOURCE_DIR}/backends/imgui_impl_glfw.cpp" "${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp")
  target_include_directories(fa_imgui_backends SYSTEM PUBLIC "${imgui_SOURCE_DIR}/backends")
  target_link_libraries(fa_imgui_backends PUBLIC fa_imgui glfw OpenGL::OpenGL OpenGL::EGL ${CMAKE_DL_LIBS})
endif()

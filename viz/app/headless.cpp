#include "viz/app/headless.h"

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <backends/imgui_impl_opengl3.h>
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "viz/app/fonts.h"
#include "viz/app/frame.h"

namespace fa::viz {
namespace {

// An EGL context that draws on no surface (Mesa), so that neither a display nor a window is needed.
class Surfaceless {
 public:
  Surfaceless() : why_not_(open()) {}
  ~Surfaceless() {
    if (display_ == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    // The display stays initialised: Mesa's driver forgets to free a little when eglTerminate unloads it.
  }
  Surfaceless(const Surfaceless&) = delete;
  Surfaceless& operator=(const Surfaceless&) = delete;

  const std::string& why_not() const { return why_not_; }

 private:
  std::string open() {
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (!get_display) return "EGL has no platform displays";
    display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display_ == EGL_NO_DISPLAY || !eglInitialize(display_, nullptr, nullptr))
      return "EGL has no surfaceless platform";
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (!eglBindAPI(EGL_OPENGL_API)) return "EGL has no OpenGL";
    if (!eglChooseConfig(display_, wanted, &config, 1, &count) || count == 0) config = EGL_NO_CONFIG_KHR;
    const EGLint version[] = {
        EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, version);
    if (context_ == EGL_NO_CONTEXT || !eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
      return "EGL gives no OpenGL 3.3 context";
    return {};
  }

  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  std::string why_not_;
};

struct ImGuiContextHolder {
  ImGuiContextHolder() {
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().LogFilename = nullptr;
  }
  ~ImGuiContextHolder() { ImGui::DestroyContext(); }
};

}  // namespace

struct Headless::Context {
  Context(int width, int height) {
    if (!gl.why_not().empty()) return;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    fonts = load_fonts();
    backend = complete && ImGui_ImplOpenGL3_Init("#version 330");
  }
  ~Context() {
    if (backend) ImGui_ImplOpenGL3_Shutdown();
    if (framebuffer != 0) glDeleteFramebuffers(1, &framebuffer);
    if (texture != 0) glDeleteTextures(1, &texture);
  }

  Surfaceless gl;
  ImGuiContextHolder imgui;
  Fonts fonts;
  GLuint texture = 0, framebuffer = 0;
  bool complete = false, backend = false;
};

std::optional<std::string> Headless::why_not() {
  const Surfaceless gl;
  return gl.why_not().empty() ? std::nullopt : std::optional<std::string>(gl.why_not());
}

Headless::Headless(int width, int height, double scale)
    : width_(width), height_(height), scale_(scale), context_(std::make_unique<Context>(width, height)) {
  if (!context_->gl.why_not().empty())
    throw InputError(
        fmt::format("no picture can be drawn here: {}; install libegl1 and libgl1-mesa-dri.", context_->gl.why_not()));
  if (!context_->backend)
    throw InputError(fmt::format("no picture of {} × {} can be drawn here; use a smaller --size.", width, height));
}

Headless::~Headless() = default;

void Headless::frame(App& app, double seconds) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width_ / scale_), static_cast<float>(height_ / scale_)};
  io.DisplayFramebufferScale = {static_cast<float>(scale_), static_cast<float>(scale_)};
  io.DeltaTime = 1.0f / 60;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  ui_frame(app, context_->fonts, seconds);
  ImGui::Render();
}

void Headless::run(App& app, int frames) {
  for (int i = 0; i < frames; ++i) frame(app, 1.0 / 60);
}

Picture Headless::draw(App& app) {
  app.finish_counting();
  frame(app, 0);  // the first frame of a context only measures
  frame(app, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, context_->framebuffer);
  glViewport(0, 0, width_, height_);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  Picture picture{width_, height_, {}};
  picture.rgb.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, picture.rgb.data());
  // OpenGL counts rows from below.
  const auto line = static_cast<std::ptrdiff_t>(width_) * 3;
  for (int row = 0; row < height_ / 2; ++row)
    std::swap_ranges(picture.rgb.begin() + row * line, picture.rgb.begin() + (row + 1) * line,
                     picture.rgb.begin() + (height_ - 1 - row) * line);
  return picture;
}

}  // namespace fa::viz

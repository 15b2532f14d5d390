#include "viz/app/window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

#include "viz/app/fonts.h"
#include "viz/app/frame.h"
#include "viz/model/layout.h"

namespace fa::viz {
namespace {

// What the callbacks of GLFW need and gather.
struct Input {
  double scale = 1;  // ImGui thinks in logical pixels, the mouse in those of the window
  Intents moves;     // arrow keys since the last frame
};
Input& input_of(GLFWwindow* window) { return *static_cast<Input*>(glfwGetWindowUserPointer(window)); }

void forward_cursor(GLFWwindow* window, double x, double y) {
  const double scale = input_of(window).scale;
  ImGui_ImplGlfw_CursorPosCallback(window, x / scale, y / scale);
}

// An arrow goes with the modifiers that were down when it was: ImGui would ask for them a frame later, when a quick
// hand has let go of Shift already.
void forward_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
  const bool arrow = key == GLFW_KEY_LEFT || key == GLFW_KEY_RIGHT;
  if (!arrow || ImGui::GetIO().WantTextInput) return ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
  const Stride unit = mods & GLFW_MOD_CONTROL ? Stride::phase : mods & GLFW_MOD_SHIFT ? Stride::tile : Stride::step;
  if (action != GLFW_RELEASE) input_of(window).moves.push_back(Move{unit, key == GLFW_KEY_RIGHT ? 1 : -1});
}

void listen(GLFWwindow* window) {
  glfwSetCursorPosCallback(window, forward_cursor);
  glfwSetWindowFocusCallback(window, ImGui_ImplGlfw_WindowFocusCallback);
  glfwSetCursorEnterCallback(window, ImGui_ImplGlfw_CursorEnterCallback);
  glfwSetMouseButtonCallback(window, ImGui_ImplGlfw_MouseButtonCallback);
  glfwSetScrollCallback(window, ImGui_ImplGlfw_ScrollCallback);
  glfwSetKeyCallback(window, forward_key);
  glfwSetCharCallback(window, ImGui_ImplGlfw_CharCallback);
}

class Window {
 public:
  Window(int width, int height) {
    glfwSetErrorCallback(nullptr);
    if (!glfwInit()) throw InputError(no_display);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
      int x = 0, y = 0, most_width = width, most_height = height;
      glfwGetMonitorWorkarea(monitor, &x, &y, &most_width, &most_height);
      width = std::min(width, std::max(most_width, 320));
      height = std::min(height, std::max(most_height, 240));
    }
    window_ = glfwCreateWindow(width, height, "FlashScope", nullptr, nullptr);
    if (!window_) {
      glfwTerminate();
      throw InputError("no window with OpenGL 3.3 can be opened here; use --png FILE to write a picture instead.");
    }
    glfwSetWindowUserPointer(window_, &input);
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(1);
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    fonts = load_fonts();
    ImGui_ImplGlfw_InitForOpenGL(window_, false);
    listen(window_);
    ImGui_ImplOpenGL3_Init("#version 330");
  }
  ~Window() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(window_);
    glfwTerminate();
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  GLFWwindow* get() const { return window_; }

  Input input;
  Fonts fonts;

 private:
  static constexpr const char* no_display = "no display can be opened; use --png FILE to write a picture instead.";
  GLFWwindow* window_ = nullptr;
};

}  // namespace

void show_window(App& app, int width, int height) {
  Window window(width, height);
  app.allow_motion();
  double before = glfwGetTime();
  int awake = 4;  // frames until nothing moves and the window may sleep
  while (!glfwWindowShouldClose(window.get())) {
    if (awake > 0 || app.playing() || app.moving() || app.busy()) {
      glfwPollEvents();
      --awake;
    } else {
      glfwWaitEventsTimeout(0.5);
      before = glfwGetTime();
      awake = 4;
    }
    int w = 0, h = 0, pixels_w = 0, pixels_h = 0;
    glfwGetWindowSize(window.get(), &w, &h);
    glfwGetFramebufferSize(window.get(), &pixels_w, &pixels_h);
    if (pixels_w == 0 || pixels_h == 0) {  // minimised
      glfwWaitEventsTimeout(0.2);
      continue;
    }
    // A window smaller than the layout needs shows it smaller, rather than cut.
    window.input.scale = std::min({app.scale(), static_cast<double>(w) / static_cast<double>(least_width),
                                   static_cast<double>(h) / static_cast<double>(least_height)});
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGuiIO& io = ImGui::GetIO();
    const auto scale = static_cast<float>(window.input.scale);
    io.DisplaySize = {static_cast<float>(w) / scale, static_cast<float>(h) / scale};
    io.DeltaTime = std::min(io.DeltaTime, 0.05f);  // a slow frame must not look like a key held down
    io.DisplayFramebufferScale = {static_cast<float>(pixels_w) / io.DisplaySize.x,
                                  static_cast<float>(pixels_h) / io.DisplaySize.y};
    ImGui::NewFrame();
    const double now = glfwGetTime();
    const std::int64_t step = app.step();
    app.apply(std::exchange(window.input.moves, {}));
    ui_frame(app, window.fonts, std::min(0.1, now - before));
    before = now;
    if (app.step() != step || ImGui::IsAnyMouseDown() || io.WantTextInput) awake = 4;
    ImGui::Render();
    glViewport(0, 0, pixels_w, pixels_h);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    glfwSwapBuffers(window.get());
  }
}

}  // namespace fa::viz

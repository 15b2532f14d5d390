#include "viz/app/frame.h"

#include "viz/draw/screen.h"

namespace fa::viz {

void ui_frame(App& app, const Fonts& fonts, double seconds) {
  app.tick(seconds);
  app.apply(draw_screen(app.screen(), app.draw_state(), fonts));
}

}  // namespace fa::viz

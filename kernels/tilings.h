// The tilings of the kernels stand in sim/config/tiling.h, the only home of tile shapes.
#pragma once

#include "sim/config/tiling.h"

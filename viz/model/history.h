#pragma once
// What a buffer held at an earlier event of the same block. Buffers go by the paper's letters.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/sim.h"

namespace fa::viz {

std::string_view buffer_name(const Run& run, int launch, BufferId id);  // "" for no_buffer

// Does the buffer stand for a tile of S or P?
bool is_scores(const Run& run, int launch, BufferId id);

// The letter that a buffer is known by, as the tensor whose colour it wears; none if it is not one of the paper's.
Tensor tensor_of(const Run& run, int launch, BufferId id);

// The last event before `before`, of the block of event `before`, that set the buffer; −1 if there is none.
std::int64_t last_set(const Run& run, std::int64_t before, BufferId id);

// Row `row` of the tensor, as event `k` left it in the buffer; empty if that event left no such row or no values.
std::vector<float> row_after(const Run& run, std::int64_t k, BufferId id, int row);

}  // namespace fa::viz

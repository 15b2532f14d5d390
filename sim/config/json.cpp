#include "sim/config/json.h"

#include <nlohmann/json.hpp>

namespace fa {

nlohmann::ordered_json to_json(const Problem& p) {
  return {{"batch", p.batch}, {"heads", p.heads}, {"kv_heads", p.kv_heads}, {"n_q", p.n_q},
          {"n_kv", p.n_kv},   {"d", p.d},         {"causal", p.causal},     {"element", name_of(p.element)}};
}

nlohmann::ordered_json to_json(const Tiling& t) {
  return {{"rows_q", t.rows_q},
          {"rows_kv", t.rows_kv},
          {"fp32_temporaries", t.fp32_temporaries},
          {"o_every_pass", t.o_every_pass},
          {"consumers", t.consumers},
          {"stages", t.stages},
          {"producer", t.producer},
          {"ping_pong", t.ping_pong},
          {"overlap", t.overlap},
          {"p_in_sram", t.p_in_sram},
          {"kernel_d", t.kernel_d},
          {"groups", t.groups},
          {"depth", t.depth},
          {"row_by_row", t.row_by_row},
          {"rebuilds_p", t.rebuilds_p},
          {"in_place", t.in_place},
          {"leaves_result", t.leaves_result},
          {"copies_lse", t.copies_lse},
          {"in_sections", t.in_sections},
          {"skips_apart", t.skips_apart},
          {"lazy_factor", t.lazy_factor},
          {"short_last", t.short_last},
          {"whole_boxes", t.whole_boxes},
          {"o_from_registers", t.o_from_registers}};
}

}  // namespace fa

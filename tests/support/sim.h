#pragma once
// What the simulator's tests share: a small GPU, and random problems of awkward shapes.

#include "sim/core/random.h"
#include "sim/sim.h"

namespace fa::tests {

// An H200 in what a program can see of it, or one with another SRAM.
inline Hardware gpu(Bytes sram = Bytes(232448)) {
  Hardware h;
  h.id = "test";
  h.name = "test GPU";
  h.sram_per_block = sram;
  h.registers_per_sm = Bytes(262144);
  return h;
}

// Ragged, causal, n_q ≠ n_kv, grouped queries: any small problem.
inline Problem any_problem(Random& random, int largest_n = 70) {
  Problem p;
  p.batch = random.between(1, 2);
  p.kv_heads = random.between(1, 3);
  p.heads = p.kv_heads * random.between(1, 3);
  p.n_q = random.between(1, largest_n);
  p.n_kv = random.between(1, largest_n);
  p.d = 8 * random.between(1, 4);
  p.causal = random.chance(0.5);
  const Element elements[] = {Element::fp32, Element::fp16, Element::bf16};
  p.element = elements[random.below(3)];
  return p;
}

// Q, K, V and dO for it.
inline Operands any_operands(const Problem& p, std::uint64_t seed) {
  Operands operands = random_operands(p, seed);
  operands.d_o = random_d_o(p, seed);
  return operands;
}

// Half of them with some of what our kernels do beyond the papers.
inline Tiling any_tiling(Random& random, int smallest = 1) {
  Tiling t{.rows_q = random.between(smallest, 24),
           .rows_kv = random.between(smallest, 24),
           .fp32_temporaries = random.chance(0.5),
           .o_every_pass = random.chance(0.5)};
  if (random.chance(0.5)) return t;
  t.kernel_d = 8 * random.between(0, 6);
  t.groups = random.between(1, 3);
  t.depth = random.chance(0.5) ? random.between(smallest, 24) : 0;
  for (bool Tiling::*option :
       {&Tiling::row_by_row, &Tiling::rebuilds_p, &Tiling::leaves_result, &Tiling::copies_lse, &Tiling::skips_apart})
    t.*option = random.chance(0.5);
  // The same kernels'.
  t.in_sections = t.copies_lse;
  t.short_last = t.o_from_registers = t.skips_apart;
  t.in_place = t.rebuilds_p;
  return t;
}

}  // namespace fa::tests

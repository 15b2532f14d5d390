#include <deque>

#include "sim/algorithms/online_softmax.h"
#include "sim/algorithms/program.h"

namespace fa {
namespace {

// A group of warps with its part of a Q tile.
struct Group {
  Group(Block& block, const Tiling& t, Rows part_of_i)
      : rows(part_of_i),
        sees(block.problem().visible_keys(std::min(rows.begin + t.rows_q, block.problem().n_q) - 1)),
        Q(block.sram("Q", t.q_tile(block.problem().d))),
        acc(block, t, t.flash2_warps(t.width(block.problem().d))) {}

  Rows rows;
  int sees;  // keys; a part past the last query does what the last query does
  Buffer Q;
  OnlineSoftmax acc;
};

// The loop below, by groups of warps that share each K, V tile: every group passes over those that its own queries do not
// see. (The CUDA kernel's groups take turns at the tensor cores.)
void flash2_by_groups(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  const Tiling each = t.of_group();
  machine.grid("flash2", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    std::deque<Group> groups;
    for (int g = 0; g < t.groups; ++g) groups.emplace_back(block, each, part(i, g, each.rows_q));

    block.divide(3, t.flash2_warps(t.width(p.d)).warps());
    for (Group& group : groups) {
      block.load(group.Q, in.q(h), group.rows);
      group.acc.start_apart(group.rows);
    }
    for (Rows j : visible(p, i, t.rows_kv)) {
      block.load(K, in.k(h), j);
      block.load(V, in.v(h), j);
      for (Group& group : groups)
        if (group.sees > j.begin) group.acc.attend(group.Q, K, V);
    }
    for (Group& group : groups) {
      block.store(out.o(h), through_sram(group.acc.normalised()));
      block.store(out.lse(h), group.acc.log_sum_exp());
    }
  });
}

}  // namespace

// FlashAttention-2, Algorithm 1. One block per tile of Q meets every K, V tile; O leaves the SM once.
void flash2(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, p.element);
  out.LSE = machine.hbm(Tensor::LSE, p.heads_total(), p.n_q, 1, Element::fp32);
  if (t.groups > 1) return flash2_by_groups(machine, in, t, out);

  machine.grid("flash2", p.heads_total(), cut(p.n_q, t.rows_q), [&](Block& block, Head h, Rows i) {
    Buffer Q = block.sram("Q", t.q_tile(p.d)), K = block.sram("K", t.kv_tile(p.d)), V = block.sram("V", t.kv_tile(p.d));
    OnlineSoftmax acc(block, t, t.flash2_warps(t.width(p.d)));  // m, l, O of these rows: in registers

    block.divide(3, t.flash2_warps(t.width(p.d)).warps());  // group of heads, head of K, head of V
    block.load(Q, in.q(h), i);
    acc.start(i);
    for (Rows j : visible(p, i, t.rows_kv)) {
      block.load(K, in.k(h), j);
      block.load(V, in.v(h), j);
      acc.attend(Q, K, V);
    }
    block.store(out.o(h), through_sram(acc.normalised()));
    block.store(out.lse(h), acc.log_sum_exp());
  });
}

}  // namespace fa

#include <deque>
#include <limits>
#include <optional>

#include "sim/algorithms/online_softmax.h"
#include "sim/algorithms/program.h"

namespace fa {
namespace {

// P in 8 bits fills the range of e4m3, [0, 448], better as 256 · P (FA-3's released kernel).
constexpr double p_scale(Element element) { return element == Element::e4m3 ? 256.0 : 1.0; }

// A ring of SRAM buffers: tile s goes to buffer s mod stages.
class Stages {
 public:
  Stages(Block& block, std::string_view name, TileShape shape, int stages) {
    for (int stage = 0; stage < stages; ++stage) buffers_.emplace_back(block.sram_stage(name, shape, stage));
  }
  const Buffer& at(int step) const { return buffers_[static_cast<std::size_t>(step) % buffers_.size()]; }

 private:
  std::deque<Buffer> buffers_;
};

// The warpgroup that loads: K and V tiles of one block, as far ahead as there are stages. It walks the tiles from the
// last to the first, so that the one that a causal mask cuts comes first.
class Producer {
 public:
  Producer(Block& block, const Inputs& in, Head head, const Tiling& t, Tiles tiles, int lane)
      : block_(block),
        in_(in),
        head_(head),
        tiles_(tiles),
        lane_(lane),
        K_(block, "K", t.kv_tile(in.problem.d), t.stages) {
    V_.emplace(block, "V", t.kv_tile(in.problem.d), t.stages);
    if (in.problem.element == Element::e4m3) transposed_.emplace(block, "Vt", t.kv_tile(in.problem.d), t.stages);
  }

  int steps() const { return tiles_.size(); }
  Rows tile(int step) const { return tiles_.at(steps() - 1 - step); }
  const Buffer& K(int step) const { return K_.at(step); }
  const Buffer& V(int step) const { return transposed_ ? transposed_->at(step) : V_->at(step); }

  void load_k(int until) {
    for (block_.on(lane_); k_ <= until && k_ < steps(); ++k_) block_.load(K_.at(k_), in_.k(head_), tile(k_));
  }
  void load_v(int until) {
    for (block_.on(lane_); v_ <= until && v_ < steps(); ++v_) {
      block_.load(V_->at(v_), in_.v(head_), tile(v_));
      if (transposed_) block_.transpose(transposed_->at(v_), V_->at(v_));
    }
  }
  void release_v() { V_.reset(), transposed_.reset(); }  // O leaves through the same SRAM

 private:
  Block& block_;
  const Inputs& in_;
  Head head_;
  Tiles tiles_;
  int lane_;
  Stages K_;
  std::optional<Stages> V_, transposed_;
  int k_ = 0, v_ = 0;  // tiles loaded so far
};

// A warpgroup that computes: its rows of Q_i meet every K and V tile.
class Consumer {
 public:
  Consumer(Block& block, const Inputs& in, Head head, const Tiling& t, int number, Rows rows)
      : block_(block),
        in_(in),
        head_(head),
        rows_(rows),
        t_(t),
        lane_(begin_lane(block, number)),
        Q_(block.sram("Q", t.q_tile_each(in.problem.d))),
        S_(block.registers("S", {t.rows_each(), t.rows_kv}, t.flash3_warps(t.rows_kv))),
        P_(block.packed("P", {t.rows_each(), t.rows_kv}, t.p_in_sram, t.flash3_warps(t.rows_kv))),
        m_(block.accumulator("m", {t.rows_each(), 1}, -std::numeric_limits<float>::infinity())),
        l_(block.accumulator("l", {t.rows_each(), 1}, 0.0f)),
        r_(block.registers("r", {t.rows_each(), 1})),
        O_(block.accumulator("O", t.q_tile_each(in.problem.d), 0.0f, t.flash3_warps(t.width(in.problem.d)))) {}

  int lane() const { return lane_; }
  // Whether it works on keys j at all.
  bool takes(Rows j) const { return !t_.skips_apart || in_.problem.visible_keys(rows_) > j.begin; }
  void load_q() { block_.load(Q_, in_.q(head_), rows_); }  // by whoever loads

  void start() {
    block_.on(lane_);
    for (const Buffer* accumulator : {&m_, &l_, &O_}) block_.start(*accumulator, rows_);
  }
  void turn() { block_.on(lane_), block_.turn(); }
  void barrier() { block_.on(lane_), block_.barrier(); }

  // S = scale · Q Kᵀ: issued, not waited for.
  void scores(const Buffer& K, Rows j) {
    block_.on(lane_);
    block_.matmul(S_, Q_, transposed(K), in_.problem.scale() * in_.q(head_).scale(rows_) * in_.k(head_).scale(j));
  }
  // O ← O + P V: issued, not waited for. (The kernel folds a scale of V into its rescaling of O.)
  void weigh(const Buffer& V, Rows j) {
    block_.on(lane_);
    block_.matmul_add(O_, P_, V, in_.v(head_).scale(j) / p_scale(in_.problem.element));
  }
  void softmax(bool first) {
    block_.on(lane_);
    block_.mask(S_);             // −∞ for keys that a query may not see
    block_.running_max(m_, S_);  // m ← max(m, rowmax S)
    const RowWork factors = first || !t_.lazy_factor ? RowStatistics{}.factor : RowWork{.times = 0};
    block_.rescale_factor(r_, m_, factors);                // r = exp(m_old − m)
    block_.exp(S_, S_, m_);                                // S ← exp(S − m), in the registers of S
    block_.running_sum(l_, r_, S_);                        // l ← r · l + rowsum P
    if (!first) block_.rescale(O_, r_);                    // O ← r · O, once the product before is in it
    block_.convert(P_, S_, p_scale(in_.problem.element));  // P, packed for the tensor cores
  }

  // O / l leaves through SRAM, all consumers' at once; LSE from registers.
  void make_room(Element element) {
    block_.on(lane_);
    if (!t_.o_from_registers) staged_.emplace(block_.sram("O", t_.q_tile_each(in_.problem.d), element));
  }
  void finish(Output& out) {
    block_.on(lane_);
    block_.normalise(O_, l_);
    if (staged_) block_.convert(*staged_, O_);
    block_.store(out.o(head_), staged_ ? *staged_ : O_);
    block_.log_sum_exp(r_, m_, l_);
    block_.store(out.lse(head_), r_);
  }

 private:
  static int begin_lane(Block& block, int number) {
    const int lane = block.lane("consumer " + std::to_string(number));
    block.on(lane);  // what it opens is its own
    return lane;
  }

  Block& block_;
  const Inputs& in_;
  Head head_;
  Rows rows_;
  const Tiling& t_;
  int lane_;
  Buffer Q_, S_, P_, m_, l_, r_, O_;
  std::optional<Buffer> staged_;
};

// Algorithm 2: the scores of the next tile and the product with this one's V are in flight together, and the softmax of
// the next runs under the latter.
void overlapped(Producer& load, std::deque<Consumer>& consumers, const Tiling& t) {
  for (int step = 0; step < load.steps(); ++step) {
    if (!t.producer)
      for (Consumer& consumer : consumers) consumer.barrier();
    load.load_k(step + t.stages - 1);
    load.load_v(step + t.stages - 2);
    for (Consumer& consumer : consumers) {
      if (t.ping_pong) consumer.turn();
      const bool is_first = step == 0 || !consumer.takes(load.tile(step - 1));
      if (!consumer.takes(load.tile(step))) continue;
      consumer.scores(load.K(step), load.tile(step));
      if (!is_first) consumer.weigh(load.V(step - 1), load.tile(step - 1));
      consumer.softmax(is_first);
    }
  }
  const int last = load.steps() - 1;
  load.load_v(last);
  for (Consumer& consumer : consumers) {
    if (t.ping_pong) consumer.turn();
    if (last >= 0 && consumer.takes(load.tile(last))) consumer.weigh(load.V(last), load.tile(last));
  }
}

// Algorithm 1: each waits for its scores, its softmax and its product in turn.
void one_by_one(Producer& load, std::deque<Consumer>& consumers, const Tiling& t) {
  for (int step = 0; step < load.steps(); ++step) {
    if (!t.producer)
      for (Consumer& consumer : consumers) consumer.barrier();
    load.load_k(step + t.stages - 1);
    load.load_v(step + t.stages - 1);
    for (Consumer& consumer : consumers) {
      if (t.ping_pong) consumer.turn();
      if (!consumer.takes(load.tile(step))) continue;
      consumer.scores(load.K(step), load.tile(step));
      consumer.softmax(step == 0 || !consumer.takes(load.tile(step - 1)));
    }
    for (Consumer& consumer : consumers) {
      if (t.ping_pong) consumer.turn();
      if (consumer.takes(load.tile(step))) consumer.weigh(load.V(step), load.tile(step));
    }
  }
}

// Query heads that are worked on side by side under a causal mask, so that their K and V stay in L2: the released
// kernel's rule, as many as fit 32 MB, a power of two.
std::int64_t heads_at_once(const Problem& p) {
  if (!p.causal) return 0;
  const std::int64_t fit = (std::int64_t{32} << 20) / (Bytes(p.n_kv) * p.d * 2 * size_of(p.element)).count();
  std::int64_t heads = 1;
  while (heads * 2 <= fit && heads < p.kv_heads_total()) heads *= 2;
  return heads * p.group();
}

}  // namespace

// FlashAttention-3, forward: flash2's loop, split among warpgroups. One loads; each of the others computes for its own
// rows of Q. Blocks stay on their SMs and take tiles of Q in order, the longest first under a causal mask.
void flash3(Machine& machine, const Inputs& in, const Tiling& t, Output& out) {
  const Problem& p = in.problem;
  const Element stored = p.element == Element::e4m3 ? Element::bf16 : p.element;
  out.O = machine.hbm(Tensor::O, p.heads_total(), p.n_q, p.d, stored);
  out.LSE = machine.hbm(Tensor::LSE, p.heads_total(), p.n_q, 1, Element::fp32);

  machine.persistent("flash3", p.heads_total(), cut(p.n_q, t.rows_q), heads_at_once(p), t.short_last,
                     [&](Block& block, Head h, Rows i) {
                       const int producer = block.lane(t.producer ? "producer" : "consumer 1");
                       std::deque<Consumer> consumers;
                       for (int c = 0; c < t.consumers; ++c)
                         consumers.emplace_back(block, in, h, t, c + 1, part(i, c, t.rows_each()));
                       block.on(producer);
                       // Our kernel's loader finds the place of its next tile: section, heads, rows, batch, key head.
                       if (t.lazy_factor) block.divide(5, 1);
                       Producer load(block, in, h, t, visible(p, i, t.rows_kv), producer);

                       load.load_k(0);
                       for (Consumer& consumer : consumers) consumer.load_q();
                       for (Consumer& consumer : consumers) consumer.start();
                       t.overlap ? overlapped(load, consumers, t) : one_by_one(load, consumers, t);

                       load.release_v();
                       for (Consumer& consumer : consumers) consumer.make_room(stored);
                       for (Consumer& consumer : consumers) consumer.finish(out);
                     });
}

}  // namespace fa

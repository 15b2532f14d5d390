#include <array>

#include "kernels/attention.h"
#include "tests/catch.h"

using namespace fa;
using namespace fa::kernels;

namespace {

constexpr std::array half_types{Element::fp16, Element::bf16};
constexpr std::array eight_bit{Element::e4m3};

// Two kernels of a new GPU, a plain one of any GPU, and a backward one.
const std::array list{
    Kernel{.name = "newest",
           .algorithm = "flash3",
           .d = 128,
           .elements = half_types,
           .takes_full = false,
           .min_cc = 90,
           .max_cc = 90,
           .shared_memory = 200'000},
    Kernel{
        .name = "tiled", .algorithm = "flash2", .d = 64, .elements = half_types, .min_cc = 80, .shared_memory = 50'000},
    Kernel{.name = "tiled",
           .algorithm = "flash2",
           .d = 128,
           .elements = half_types,
           .min_cc = 80,
           .shared_memory = 100'000},
    Kernel{
        .name = "eight", .algorithm = "flash3", .d = 128, .elements = eight_bit, .takes_causal = false, .min_cc = 75},
    Kernel{.name = "plain",
           .algorithm = "naive",
           .d = 256,
           .elements = half_types,
           .min_cc = 75,
           .workspace_bytes =
               [](const Problem& p) { return static_cast<std::size_t>(p.n_q) * static_cast<std::size_t>(p.n_kv) * 4; }},
    Kernel{
        .name = "back", .algorithm = "flash2", .pass = Pass::backward, .d = 128, .elements = half_types, .min_cc = 80},
};

const Device hopper{.name = "a Hopper",
                    .compute_capability = 90,
                    .shared_memory_per_block = 232'448,
                    .memory_bytes = std::int64_t{140} << 30};
const Device turing{.name = "a Turing",
                    .compute_capability = 75,
                    .shared_memory_per_block = 65'536,
                    .memory_bytes = std::int64_t{16} << 30};

Problem problem(int d, bool causal) {
  return {.heads = 8, .kv_heads = 8, .n_q = 1024, .n_kv = 1024, .d = d, .causal = causal, .element = Element::bf16};
}

std::string chosen(const Problem& p, const Device& device) {
  const Choice choice = choose(p, Pass::forward, device, list);
  return choice.kernel == nullptr ? "none" : std::string(choice.kernel->name) + " " + std::to_string(choice.kernel->d);
}

std::string reason(const Problem& p, const Device& device, std::string_view kernel, int d) {
  for (const Refusal& refusal : choose(p, Pass::forward, device, list).refused)
    if (refusal.kernel->name == kernel && refusal.kernel->d == d) return refusal.sentence;
  return "not refused";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("choose takes the first kernel of the list that can") {
  CHECK(chosen(problem(128, true), hopper) == "newest 128");
  CHECK(chosen(problem(128, false), hopper) == "tiled 128");
  CHECK(chosen(problem(64, false), hopper) == "tiled 64");
  CHECK(chosen(problem(72, false), hopper) == "tiled 128");
  CHECK(chosen(problem(256, false), hopper) == "plain 256");
  CHECK(chosen(problem(64, false), turing) == "plain 256");
  CHECK(chosen(problem(264, false), hopper) == "none");
}

TEST_CASE("every kernel of the pass that is not chosen has a sentence, and no kernel of the other pass has one") {
  for (const Device& device : {hopper, turing})
    for (const int d : {8, 64, 100, 128, 256, 512})
      for (const bool causal : {false, true}) {
        const Choice choice = choose(problem(d, causal), Pass::forward, device, list);
        CHECK(choice.refused.size() + (choice.kernel != nullptr ? 1 : 0) == 5);
        CHECK_FALSE(choice.sentence.empty());
        for (const Refusal& refusal : choice.refused) {
          CHECK(refusal.kernel->pass == Pass::forward);
          CHECK(refusal.sentence.back() == '.');
          CHECK(contains(refusal.sentence, std::string(refusal.kernel->name)));
        }
      }
}

TEST_CASE("a refusal names what is wrong and the two numbers that disagree") {
  CHECK(reason(problem(64, true), turing, "newest", 128) ==
        "newest (d 128) needs compute capability 9.0 or newer, and a Turing has 7.5.");
  CHECK(reason(problem(64, false), hopper, "newest", 128) ==
        "newest (d 128) is tiled for the causal mask, and the problem is not causal.");
  CHECK(reason(problem(64, false), hopper, "eight", 128) == "eight (d 128) takes e4m3, and the problem is in bf16.");
  CHECK(reason(problem(128, false), hopper, "tiled", 64) ==
        "tiled (d 64) was compiled for head dimensions up to 64, and the problem has d = 128.");
  CHECK(contains(reason(problem(100, false), hopper, "plain", 256), "pad q, k and v with zeros to d = 104"));
  CHECK(contains(reason(problem(64, false), hopper, "plain", 256), "tiled (d 64) stands before it"));

  Device blackwell = hopper;
  blackwell.compute_capability = 100;
  CHECK(contains(reason(problem(64, true), blackwell, "newest", 128), "end with compute capability 9.0"));
  Device small = hopper;
  small.shared_memory_per_block = 99'999;
  CHECK(contains(reason(problem(128, false), small, "tiled", 128),
                 "asks for 100000 bytes of shared memory in a block, and a Hopper gives at most 99999"));
  small.shared_memory_per_block = 100'000;
  CHECK(chosen(problem(128, false), small) == "tiled 128");
}

TEST_CASE("a workspace that does not fit in the GPU's memory is a refusal, not a crash") {
  Problem p = problem(256, false);
  p.n_q = p.n_kv = 131'072;  // 68.7 GB of scores
  CHECK(chosen(p, hopper) == "plain 256");
  CHECK(contains(reason(p, turing, "plain", 256), "68.7 GB"));
  CHECK(chosen(p, turing) == "none");
}

TEST_CASE("query heads that do not share key heads evenly are refused") {
  Problem p = problem(64, false);
  p.kv_heads = 3;
  CHECK(contains(reason(p, hopper, "tiled", 64), "heads = 8 is no multiple of kv_heads = 3"));
}

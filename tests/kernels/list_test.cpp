// The published list, as data.
#include <map>
#include <set>
#include <string>

#include "kernels/host/c_api.h"
#include "kernels/tools/problems.h"
#include "tests/catch.h"

using namespace fa;
using namespace fa::kernels;

namespace {

const Device h200{.name = "an H200",
                  .compute_capability = 90,
                  .multiprocessors = 132,
                  .shared_memory_per_block = 232'448,
                  .memory_bytes = std::int64_t{140} << 30};
const Device t4{.name = "a T4",
                .compute_capability = 75,
                .multiprocessors = 40,
                .shared_memory_per_block = 65'536,
                .memory_bytes = std::int64_t{15} << 30};

}  // namespace

TEST_CASE("every kernel says what it takes, with what tiles, and can be launched") {
  for (const Kernel& kernel : fa::kernels::kernels()) {
    INFO(kernel.name << " " << name_of(kernel.pass) << " " << kernel.d);
    CHECK_FALSE(kernel.elements.empty());
    CHECK(kernel.launch != nullptr);
    CHECK((kernel.takes_full || kernel.takes_causal));
    CHECK(kernel.tiling.rows_q > 0);
    CHECK(kernel.tiling.rows_kv > 0);
    CHECK(kernel.min_cc >= 75);
    CHECK(kernel.shared_memory <= h200.shared_memory_per_block);
    CHECK(std::set<std::string_view>{"naive", "flash1", "flash2", "flash3"}.count(kernel.algorithm) == 1);
  }
}

TEST_CASE("of one name and pass, the kernel for a smaller d stands before that for a larger one") {
  std::map<std::string, int> last;
  for (const Kernel& kernel : fa::kernels::kernels()) {
    const std::string key = std::string(kernel.name) + " " + std::string(name_of(kernel.pass));
    INFO(key);
    CHECK(kernel.d >= last[key]);
    last[key] = kernel.d;
  }
}

TEST_CASE("an H200 has a kernel for every head dimension, mask, type and pass") {
  for (const int d : {8, 40, 64, 72, 96, 128, 160, 248, 256})
    for (const bool causal : {false, true})
      for (const Element element : {Element::fp16, Element::bf16})
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          const Problem p{
              .heads = 8, .kv_heads = 2, .n_q = 1000, .n_kv = 1300, .d = d, .causal = causal, .element = element};
          INFO(describe(p) << " " << name_of(pass));
          CHECK(choose(p, pass, h200).kernel != nullptr);
        }
}

TEST_CASE("an H200 has a forward kernel in 8 bits for every head dimension and mask, and no older GPU has one") {
  for (const int d : {16, 64, 80, 128, 160, 256})
    for (const bool causal : {false, true}) {
      const Problem p{
          .heads = 8, .kv_heads = 2, .n_q = 1000, .n_kv = 1300, .d = d, .causal = causal, .element = Element::e4m3};
      INFO(describe(p));
      CHECK(choose(p, Pass::forward, h200).kernel != nullptr);
      CHECK(choose(p, Pass::backward, h200).kernel == nullptr);
      CHECK(choose(p, Pass::forward, t4).kernel == nullptr);
    }
}

TEST_CASE("the sweep in 8 bits has scales by tile, by head and none, and no stride that 16 bytes do not divide") {
  std::set<int> scale_rows;
  for (const Case& c : check_cases(fa::kernels::kernels(), eight_bits, false)) {
    INFO(describe(c));
    CHECK(c.problem.element == Element::e4m3);
    CHECK(c.problem.d % 16 == 0);
    scale_rows.insert(c.scale_rows);
  }
  CHECK(scale_rows == std::set<int>{0, 128, 256, 1 << 20});
}

TEST_CASE("a Turing GPU gets a kernel that was made for it") {
  const Problem p{.heads = 8, .kv_heads = 8, .n_q = 1024, .n_kv = 1024, .d = 64, .element = Element::fp16};
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const Choice choice = choose(p, pass, t4);
    REQUIRE(choice.kernel != nullptr);
    CHECK(choice.kernel->min_cc <= 75);
  }
}

TEST_CASE("the measured problems number at least 40, differ, and span 512 to 128k") {
  const auto problems = measured_problems();
  std::set<std::string> texts;
  std::set<int> sizes;
  for (const Problem& p : problems) {
    texts.insert(describe(p));
    sizes.insert(p.n_q);
    CHECK(p.heads % p.kv_heads == 0);
    CHECK(p.d % 8 == 0);
  }
  CHECK(texts.size() == problems.size());
  CHECK(problems.size() >= 40);
  CHECK(*sizes.begin() == 512);
  CHECK(*sizes.rbegin() == 131'072);
}

TEST_CASE("the sweep meets both edges of every kernel's tiles") {
  const auto half = check_cases(fa::kernels::kernels(), half_types, false);
  const auto eight = check_cases(fa::kernels::kernels(), eight_bits, false);
  for (const Kernel& kernel : fa::kernels::kernels())
    for (const int edge : {-1, 0, 1}) {
      bool rows = false, keys = false;
      for (const Case& c : kernel.elements[0] == Element::e4m3 ? eight : half) {
        if (c.problem.d != kernel.d) continue;
        rows = rows || c.problem.n_q == kernel.tiling.rows_q + edge;
        keys = keys || c.problem.n_kv == kernel.tiling.rows_kv + edge;
      }
      INFO(kernel.name << " " << kernel.d << " tile " << kernel.tiling.rows_q << "x" << kernel.tiling.rows_kv
                       << " edge " << edge);
      CHECK(rows);
      CHECK(keys);
    }
}

TEST_CASE("the C interface shows the same list, and turns a wrong index into a sentence") {
  REQUIRE(fa_kernel_count() == static_cast<int>(fa::kernels::kernels().size()));
  for (int i = 0; i < fa_kernel_count(); ++i) {
    const Kernel& kernel = fa::kernels::kernels()[static_cast<std::size_t>(i)];
    CHECK(std::string(fa_kernel_name(i)) == kernel.name);
    CHECK(fa_kernel_d(i) == kernel.d);
    CHECK(fa_kernel_pass(i) == (kernel.pass == Pass::forward ? FA_FORWARD : FA_BACKWARD));
  }
  CHECK(fa_kernel_name(fa_kernel_count()) == nullptr);
  CHECK(std::string(fa_last_error()).find("is not in the list") != std::string::npos);

  fa_args args{};
  args.problem = {1, 1, 1, 64, 64, 64, 0, FA_BF16};
  args.scale = 0.125f;
  CHECK(fa_run(0, &args) == 1);
  CHECK(std::string(fa_last_error()).find("q is null") == 0);
}

#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "kernels/attention.h"
#include "tests/catch.h"

using namespace fa;
using namespace fa::kernels;

namespace {

// Addresses that are never read: validation looks at numbers, not at memory.
void* address(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

Args good_args() {
  Args a;
  a.problem = {.batch = 2, .heads = 8, .kv_heads = 2, .n_q = 100, .n_kv = 200, .d = 64, .element = Element::bf16};
  a.scale = 0.125f;
  a.q = a.o = a.d_out = a.dq = packed_view(address(0x10000), 100, 8, 64);
  a.k = a.v = a.dk = a.dv = packed_view(address(0x90000), 200, 2, 64);
  a.lse = static_cast<float*>(address(0xF0000));
  return a;
}

std::string complaint(const Args& args, Pass pass = Pass::forward) { return why_invalid(args, pass).value_or("fine"); }

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("right arguments are accepted, packed, strided or broadcast") {
  Args a = good_args();
  CHECK(complaint(a) == "fine");
  CHECK(complaint(a, Pass::backward) == "fine");
  a.q.row_stride = 3 * 8 * 64;  // q in a packed qkv tensor
  CHECK(complaint(a) == "fine");
  a.k.head_stride = 0;  // one key head for all, never written
  CHECK(complaint(a) == "fine");
  a.problem.batch = 1;
  a.q.batch_stride = 3;  // never used
  CHECK(complaint(a) == "fine");
}

TEST_CASE("a null pointer is named, with the shape that belongs there") {
  Args a = good_args();
  a.k.data = nullptr;
  CHECK(complaint(a) == "k is null: give the device address of a [2, 200, 2, 64] tensor of bf16.");
  a = good_args();
  a.lse = nullptr;
  CHECK(contains(complaint(a), "lse is null"));
  a = good_args();
  a.d_out.data = nullptr;
  CHECK(complaint(a) == "fine");  // forward has no use for it
  CHECK(contains(complaint(a, Pass::backward), "d_out is null"));
}

TEST_CASE("misaligned addresses and strides are named in bytes") {
  Args a = good_args();
  a.v.data = address(0x90008);
  CHECK(complaint(a) == "v starts 8 bytes past a multiple of 16: pass a copy that starts at one.");
  a = good_args();
  a.q.row_stride = 8 * 64 + 4;
  CHECK(contains(complaint(a), "q's row stride of 516 numbers is 1032 bytes, and it must be a multiple of 16"));
  a = good_args();
  a.o.d_stride = 2;
  CHECK(contains(complaint(a), "o's last dimension has stride 2"));
  a = good_args();
  a.lse = static_cast<float*>(address(0xF0002));
  CHECK(contains(complaint(a), "lse must start at a multiple of 4"));
}

TEST_CASE("an output whose rows overlap is refused, an input's may") {
  Args a = good_args();
  a.dk.head_stride = 0;
  CHECK(complaint(a) == "fine");
  CHECK(contains(complaint(a, Pass::backward), "dk is written, and its head stride is 0"));
}

TEST_CASE("scale must be a positive number") {
  for (const float scale : {0.0f, -1.0f, NAN, INFINITY}) {
    Args a = good_args();
    a.scale = scale;
    CHECK(contains(complaint(a), "must be a positive number; 1 / sqrt(d) = 0.125 is usual"));
  }
}

TEST_CASE("d, heads and sizes that no kernel can take are refused") {
  for (const int d : {0, -8, 4, 100, 264}) {
    Args a = good_args();
    a.problem.d = d;
    CHECK(contains(complaint(a), "must be a multiple of 8 from 8 to 256"));
  }
  for (const int kv_heads : {0, 3, 16}) {
    Args a = good_args();
    a.problem.kv_heads = kv_heads;
    CHECK(contains(complaint(a), "must be a positive multiple of kv_heads"));
  }
  Args a = good_args();
  a.problem.n_kv = -1;
  CHECK(contains(complaint(a), "must not be negative"));
}

TEST_CASE("tensors without numbers need no address") {
  Args a = good_args();
  a.problem.n_kv = 0;
  a.k = a.v = a.dk = a.dv = {};
  CHECK(complaint(a) == "fine");
  CHECK(complaint(a, Pass::backward) == "fine");
  a.problem.n_q = 0;
  a.q = a.o = a.d_out = a.dq = {};
  a.lse = nullptr;
  CHECK(complaint(a, Pass::backward) == "fine");
}

TEST_CASE("scales belong to e4m3, and say how many rows share one") {
  const auto* const table = static_cast<const float*>(address(0x70000));
  Args a = good_args();
  a.k_scales = {table, 128};
  CHECK(complaint(a) == "k_scales belong to e4m3 tensors, and the problem is in bf16: leave them null.");
  a.problem.element = Element::e4m3;
  CHECK(complaint(a) == "fine");
  a.k_scales.rows = 0;
  CHECK(contains(complaint(a), "k_scales.rows = 0 must be positive"));
  a.k_scales = {static_cast<const float*>(address(0x70002)), 128};
  CHECK(contains(complaint(a), "k_scales must start at a multiple of 4"));
}

TEST_CASE("run wants the keys of one tile to share a scale") {
  static constexpr Element types[] = {Element::e4m3};
  static int launches;
  launches = 0;
  const Kernel kernel{.name = "k",
                      .algorithm = "flash3",
                      .d = 64,
                      .tiling = {.rows_kv = 96},
                      .elements = types,
                      .launch = [](const Args&) { ++launches; }};
  Args a = good_args();
  a.problem.element = Element::e4m3;
  for (const int rows : {96, 192, 200, 1'000'000}) {  // n_kv is 200
    a.v_scales = {static_cast<const float*>(address(0x70000)), rows};
    run(kernel, a);
  }
  CHECK(launches == 4);
  a.v_scales.rows = 128;
  CHECK_THROWS_WITH(
      run(kernel, a),
      "v_scales.rows = 128 must be a multiple of 96, the keys that k loads at once, or at least n_kv = 200.");
  a.v_scales = {};
  a.q_scales = {static_cast<const float*>(address(0x70000)), 7};  // queries may have any
  run(kernel, a);
  CHECK(launches == 5);
}

TEST_CASE("a cast is checked as a tensor of each type, and wants its scales") {
  const Cast good{.element = Element::fp16,
                  .batch = 2,
                  .n = 100,
                  .heads = 8,
                  .d = 64,
                  .from = packed_view(address(0x10000), 100, 8, 64),
                  .to = packed_view(address(0x90000), 100, 8, 64),
                  .scales = static_cast<float*>(address(0x70000)),
                  .rows = 96};
  CHECK_FALSE(why_invalid(good).has_value());
  const auto complains = [&](auto change, std::string_view about) {
    Cast cast = good;
    change(cast);
    const std::string text = why_invalid(cast).value_or("fine");
    INFO(text);
    CHECK(contains(text, about));
  };
  complains([](Cast& c) { c.element = Element::e4m3; }, "quantise casts fp16 and bf16, and the tensor is in e4m3.");
  complains([](Cast& c) { c.rows = 0; }, "rows = 0 must be positive");
  complains([](Cast& c) { c.d = 20; }, "d = 20 must be a multiple of 8");
  complains([](Cast& c) { c.heads = 0; }, "heads = 0 must be positive");
  complains([](Cast& c) { c.from.data = nullptr; },
            "from is null: give the device address of a [2, 100, 8, 64] tensor of fp16.");
  complains([](Cast& c) { c.to.row_stride = 8 * 64 + 8; }, "to's row stride of 520 numbers is 520 bytes");
  complains([](Cast& c) { c.to.head_stride = 0; }, "to is written, and its head stride is 0");
  complains([](Cast& c) { c.scales = nullptr; }, "scales must be the device address of 2 x 8 x 2 floats.");
  Cast empty = good;
  empty.n = 0;
  empty.from = empty.to = {};
  empty.scales = nullptr;
  CHECK_FALSE(why_invalid(empty).has_value());
}

TEST_CASE("run refuses wrong arguments and a workspace that is missing, before anything is launched") {
  static constexpr Element types[] = {Element::bf16};
  const auto launch = [](const Args&) { FAIL("launched"); };
  Kernel kernel{.name = "k", .algorithm = "flash2", .d = 64, .elements = types, .launch = launch};
  Args a = good_args();
  a.q.data = nullptr;
  CHECK_THROWS_AS(run(kernel, a), std::invalid_argument);
  a = good_args();
  a.problem.element = Element::fp16;
  CHECK_THROWS_AS(run(kernel, a), std::invalid_argument);
  a = good_args();
  kernel.workspace_bytes = [](const Problem&) { return std::size_t{512}; };
  CHECK_THROWS_AS(run(kernel, a), std::invalid_argument);
  a.workspace = address(0x20080);
  CHECK_THROWS_AS(run(kernel, a), std::invalid_argument);
}

TEST_CASE(
    "a kernel that copies through tensor maps refuses strides that lead backwards or too far, and no other does") {
  static constexpr Element types[] = {Element::bf16};
  Kernel kernel{.name = "k", .algorithm = "flash3", .d = 64, .elements = types};
  const auto says = [&](auto change) {
    Args args = good_args();
    change(args);
    return why_invalid(args, kernel).value_or("fine");
  };
  const auto backwards = [](Args& a) { a.k.head_stride = -64; };
  const auto far = [](Args& a) { a.o.batch_stride = std::int64_t{1} << 39; };  // 2^40 bytes
  const auto nearer = [](Args& a) { a.o.batch_stride = (std::int64_t{1} << 39) - 8; };
  const auto broadcast = [](Args& a) { a.v.head_stride = 0; };
  for (const auto& change : {std::function<void(Args&)>(backwards), {far}, {nearer}, {broadcast}})
    CHECK(says(change) == "fine");

  kernel.tensor_maps = true;
  CHECK(says(backwards) ==
        "k's head stride is -128 bytes, and k moves tiles by TMA, which takes strides from 0 to below 2^40: pass a "
        "contiguous copy, or take a kernel for an older GPU.");
  CHECK(contains(says(far), "o's batch stride is 1099511627776 bytes"));
  CHECK(says(nearer) == "fine");
  CHECK(says(broadcast) == "fine");
  CHECK(says([](Args& a) { a.q.data = nullptr; }).find("q is null") == 0);
  // An axis of one is never stepped along.
  CHECK(says([](Args& a) { a.problem.batch = 1, a.k.batch_stride = -8; }) == "fine");
}

TEST_CASE("every kernel for Hopper alone says that it copies through tensor maps") {
  for (const Kernel& kernel : fa::kernels::kernels()) CHECK(kernel.tensor_maps == (kernel.min_cc == 90));
}

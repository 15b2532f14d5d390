// Question: does the reader of tensor files believe anything that the bytes do not bear out?

#include "sim/record/safetensors.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "tests/catch.h"

using namespace fa;

namespace {

// A file made by hand: the length of `header`, `header`, and `data` bytes 0, 1, 2, …
std::string file_with(const std::string& header, std::size_t data, std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += header;
  for (std::size_t i = 0; i < data; ++i) bytes += static_cast<char>(i);
  return bytes;
}
std::string file_with(const std::string& header, std::size_t data) { return file_with(header, data, header.size()); }

TensorFile parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), "some.file");
}

// What the reader says of these bytes; empty if it takes them.
std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// `refusal` is one line that names the file and says `what`.
void check_refused(const std::string& bytes, const std::string& what) {
  const std::string said = refusal(bytes);
  INFO("said: " << said << "\nwanted: " << what);
  CHECK(said.rfind("some.file: ", 0) == 0);
  CHECK(said.find(what) != std::string::npos);
  CHECK(said.find('\n') == std::string::npos);
}

std::string one_tensor(const std::string& fields) { return "{\"q\":{" + fields + "}}"; }

// The one number of dtype `dtype` in these little-endian bytes.
float number(const std::string& dtype, const std::string& bytes) {
  const std::string header =
      one_tensor("\"dtype\":\"" + dtype + "\",\"shape\":[1],\"data_offsets\":[0," + std::to_string(bytes.size()) + "]");
  return parse(file_with(header, 0) + bytes).tensors.at(0).values.at(0);
}

}  // namespace

TEST_CASE("a well-formed file gives its tensors and its metadata") {
  const TensorFile file = parse(file_with(R"({"__metadata__":{"model":"tiny"},)"
                                          R"("b":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[8,12]},)"
                                          R"("ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                                          R"("none":{"dtype":"F32","shape":[0,7],"data_offsets":[8,8]}}   )",
                                          12));
  CHECK(file.source == "some.file");
  CHECK(file.metadata == std::map<std::string, std::string>{{"model", "tiny"}});
  REQUIRE(file.tensors.size() == 3);
  REQUIRE(file.find("b"));
  CHECK(file.find("b")->dtype == "F8_E4M3");
  CHECK(file.find("b")->shape == std::vector<std::int64_t>{2, 2});
  // Bytes 8 … 11 are exponent 1, mantissa 0 … 3: 2^(1-7) · (1 + i/8).
  CHECK(file.find("b")->values == std::vector<float>{8 / 512.0f, 9 / 512.0f, 10 / 512.0f, 11 / 512.0f});
  CHECK(file.find("ids")->values.empty());
  CHECK(file.find("none")->values.empty());
  CHECK(file.find("k") == nullptr);
  CHECK(parse(file_with("{}", 0)).tensors.empty());
}

TEST_CASE("every float format is read to the bit") {
  using namespace std::string_literals;
  CHECK(number("F64", "\0\0\0\0\0\0\xf8\xbf"s) == -1.5f);
  CHECK(number("F32", "\0\0\xc0\xbf"s) == -1.5f);
  CHECK(number("F16", "\0\xbe"s) == -1.5f);
  CHECK(number("F16", "\xff\x7b"s) == 65504.0f);         // the largest
  CHECK(number("F16", "\x01\0"s) == 0x1p-24f);           // the smallest, subnormal
  CHECK(number("F16", "\xff\x03"s) == 1023 * 0x1p-24f);  // the largest subnormal
  CHECK(number("F16", "\0\xfc"s) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(number("F16", "\x01\x7c"s)));
  CHECK(std::signbit(number("F16", "\0\x80"s)));
  CHECK(number("BF16", "\xc0\xbf"s) == -1.5f);
  CHECK(number("BF16", "\x01\0"s) == 0x1p-133f);
  CHECK(number("BF16", "\x80\x7f"s) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(number("BF16", "\xc0\x7f"s)));
  CHECK(number("F8_E4M3", "\xbc"s) == -1.5f);
  CHECK(number("F8_E4M3", "\x7e"s) == 448.0f);
  CHECK(number("F8_E4M3", "\x01"s) == 0x1p-9f);
  CHECK(std::isnan(number("F8_E4M3", "\xff"s)));
  CHECK(number("F8_E5M2", "\xbe"s) == -1.5f);
  CHECK(number("F8_E5M2", "\x7b"s) == 57344.0f);
  CHECK(number("F8_E5M2", "\x7c"s) == std::numeric_limits<float>::infinity());
}

TEST_CASE("a file that is cut short, or no safetensors file at all, is refused") {
  const std::string header = one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  REQUIRE(refusal(file_with(header, 8)).empty());
  check_refused("", "the file is empty");
  check_refused("1234567", "it has 7 bytes");
  check_refused(file_with(header, 0, header.size() + 1),
                "but only " + std::to_string(header.size()) + " follow: it is truncated");
  check_refused(file_with(header, 8, 100'000'001), "at most 100 MB");
  check_refused(file_with(header, 8, ~std::uint64_t{0}), "18446744073709551615 bytes");
  check_refused(file_with(header, 7), R"(tensor "q" ends at byte 8 of the data, but the file holds 7)");
  check_refused(file_with(header, 9), "its last 1 bytes belong to no tensor");
  check_refused(file_with("", 8, 0), "does not begin with '{'");
  check_refused(file_with("[]", 0), "does not begin with '{'");
}

TEST_CASE("a header that is not JSON of the right form is refused") {
  check_refused(file_with("{", 0), "not JSON in UTF-8: it goes wrong at byte 2");
  check_refused(file_with("{}}", 0), "not JSON");
  check_refused(file_with(std::string("{}\0{", 4), 0), "byte 3 is zero");
  check_refused(file_with("{\"\xff\":{}}", 0), "not JSON in UTF-8");
  check_refused(file_with("{\"q\":7}", 0), "tensor \"q\" is not described by an object");
  check_refused(file_with("{\"q\":" + std::string(1'000'000, '['), 0), "tensor \"q\" is not described by an object");
  check_refused(file_with(R"({"__metadata__":[]})", 0), "__metadata__ is not an object");
  check_refused(file_with(R"({"__metadata__":{"a":1}})", 0), "metadata \"a\" is not a string");
  check_refused(file_with(R"({"__metadata__":{"a":"","a":""}})", 0), "metadata \"a\" is there twice");
  check_refused(file_with(R"({"__metadata__":{},"__metadata__":{}})", 0), "\"__metadata__\" is there twice");
  const std::string q = R"("q":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  check_refused(file_with("{" + q + "," + q + "}", 0), "\"q\" is there twice");
}

TEST_CASE("a tensor whose description is incomplete, odd or lying is refused by name") {
  const auto refused = [](const std::string& fields, const std::string& what) {
    INFO(fields);
    check_refused(file_with(one_tensor(fields), 8), "tensor \"q\" " + what);
  };
  refused(R"("dtype":"F32","shape":[2])", "lacks one of dtype, shape and data_offsets");
  refused(R"("dtype":"F32","dtype":"F16")", "says its dtype twice");
  refused(R"("dtype":"F32","strides":[1])", "has an unknown field \"strides\"");
  refused(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])", "has the unknown dtype \"F33\"");
  refused(R"("dtype":["F32"])", "has a dtype that is not a string");
  refused(R"("shape":8)", "has a shape that is not a list of numbers");
  refused(R"("shape":{})", "has a shape that is not a list of numbers");
  refused(R"("shape":[2,[1]])", "has a shape with an entry that is not a whole number");
  refused(R"("shape":[-2])", "has a shape with an entry that is not a whole number");
  refused(R"("shape":[2.0])", "has a shape with an entry that is not a whole number");
  refused(R"("shape":[null])", "has a shape with an entry that is not a whole number");
  refused(R"("shape":[9223372036854775808])", "has a shape with an entry that is not a whole number");
  refused(R"("shape":[99999999999999999999999])", "has a shape with an entry that is not a whole number");
  refused(R"("dtype":"F32","shape":[2],"data_offsets":[8])", "has 1 data_offsets, not two");
  refused(R"("dtype":"F32","shape":[2],"data_offsets":[0,4,8])", "has 3 data_offsets, not two");
  refused(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])", "begins at byte 8 of the data, after its end at 0");
  refused(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])", "has 8 bytes of data, but its dtype and shape make 12");
  refused(R"("dtype":"F32","shape":[2],"data_offsets":[0,9223372036854775807])", "ends at byte 9223372036854775807");
  // 2^31 · 2^31 · 4 bytes wrap to 0 in 64 bits, and so does 2^62 · 4.
  refused(R"("dtype":"F32","shape":[2147483648,2147483648],"data_offsets":[0,0])", "has a shape too large");
  refused(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])", "has a shape too large");
}

TEST_CASE("data that two tensors claim, or none, are refused") {
  const auto two = [](const std::string& a, const std::string& b) {
    return file_with(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + a +
                         R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                     9);
  };
  check_refused(two("[0,4]", "[3,7]"), R"(tensor "b" overlaps)");
  check_refused(two("[0,4]", "[0,4]"), "overlaps");
  check_refused(two("[5,9]", "[0,4]"), R"(tensor "a" leaves a gap before it: bytes 4 to 5)");
  check_refused(two("[1,5]", "[5,9]"), R"(tensor "a" leaves a gap before it: bytes 0 to 1)");
  check_refused(two("[4,8]", "[0,4]"), "its last 1 bytes belong to no tensor");
}

TEST_CASE("a message stays one short line whatever a file calls its tensors") {
  CHECK(in_quotes("q") == "\"q\"");
  CHECK(in_quotes("a\nb\x7f") == "\"a\\x0ab\\x7f\"");
  CHECK(in_quotes(std::string(1000, 'x')) == "\"" + std::string(60, 'x') + "…\"");
  CHECK(in_quotes(std::string(59, 'x') + "é") == "\"" + std::string(59, 'x') + "…\"");  // never half a character
  const std::string said = refusal(file_with("{\"" + std::string(500'000, 'n') + "\\n\":1}", 0));
  CHECK(said.size() < 200);
  CHECK(said.find('\n') == std::string::npos);
}

TEST_CASE("damaged files are read or refused in one line, and never anything else") {
  const std::string header = R"({"__metadata__":{"tokens":"[\"a\",\"b\"]"},"q":{"dtype":"F32","shape":[2,2],)"
                             R"("data_offsets":[0,16]},"k":{"dtype":"BF16","shape":[2,2],"data_offsets":[16,24]}})";
  const std::string whole = file_with(header, 24);
  REQUIRE(refusal(whole).empty());
  for (std::size_t length = 0; length < whole.size(); ++length) CHECK_FALSE(refusal(whole.substr(0, length)).empty());

  Random random(1);
  int taken = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = whole;
    for (int hits = random.between(1, 4); hits > 0; --hits) {
      char& byte = bytes[static_cast<std::size_t>(random.below(static_cast<int>(bytes.size())))];
      if (random.chance(0.5)) {
        byte = static_cast<char>(byte ^ 1 << random.below(8));
      } else {
        byte = "0123456789-.[]{}\",:eE\\ \xff"[random.below(24)];
      }
    }
    const std::string said = refusal(bytes);  // anything but an InputError would fail the test
    ++(said.empty() ? taken : refused);
    if (said.find('\n') != std::string::npos) FAIL("two lines: " << said);
  }
  CHECK(taken > 1000);
  CHECK(refused > 10'000);
}

TEST_CASE("what is written is read back, and a file that cannot be written leaves nothing") {
  const auto folder = std::filesystem::temp_directory_path() / "fa_safetensors_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  TensorFile file;
  file.tensors = {{"z", "F32", {2, 1}, {1.5f, -0.0f}}, {"a \"b\"", "F32", {0}, {}}, {"c", "F32", {}, {7.0f}}};
  file.metadata = {{"text", "mat – \n"}};
  write_safetensors(folder / "x.safetensors", file);

  const TensorFile back = read_safetensors(folder / "x.safetensors");
  CHECK(back.source == (folder / "x.safetensors").string());
  CHECK(back.metadata == file.metadata);
  REQUIRE(back.tensors.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(back.tensors[i].name == file.tensors[i].name);
    CHECK(back.tensors[i].shape == file.tensors[i].shape);
    CHECK(back.tensors[i].values == file.tensors[i].values);
  }
  CHECK(std::signbit(back.tensors[0].values[1]));

  std::filesystem::create_directory(folder / "taken");
  CHECK_THROWS_AS(write_safetensors(folder / "taken", file), InputError);
  CHECK_THROWS_AS(write_safetensors(folder / "no" / "such" / "folder", file), InputError);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);  // x.safetensors and taken
  std::filesystem::remove_all(folder);
}

TEST_CASE("a path that is no readable file is refused by name") {
  const auto said = [](const std::filesystem::path& path) -> std::string {
    try {
      read_safetensors(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said("no/such.safetensors").rfind("no/such.safetensors: ", 0) == 0);
  const auto folder = std::filesystem::temp_directory_path();
  CHECK(said(folder).rfind(folder.string() + ": ", 0) == 0);
}

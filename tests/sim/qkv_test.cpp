// Question: are q, k and v of a file fit for attention, and are the committed ones the model's?

#include "sim/record/qkv.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace fa;

namespace {

TensorFile::Entry tensor(const std::string& name, std::vector<std::int64_t> shape) {
  const auto count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return {name, "F32", std::move(shape), std::vector<float>(static_cast<std::size_t>(count), 1.0f)};
}

using Shape = std::vector<std::int64_t>;
TensorFile file_of(Shape q, Shape k, Shape v, std::map<std::string, std::string> metadata = {}) {
  return {"some.file",
          {tensor("v", std::move(v)), tensor("q", std::move(q)), tensor("k", std::move(k))},
          std::move(metadata)};
}

std::string refusal(const TensorFile& file) {
  try {
    qkv_of(file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string folder = FA_ASSETS_DIR "/inputs/";

// Row `row` of attention head `head`, in double from the file's q, k, v alone.
struct Row {
  std::vector<double> scores, weights, o;
};
Row attend(const NamedQkv& in, std::int64_t head, std::int64_t row) {
  const std::int64_t kv = head / (in.q_heads / in.kv_heads);
  const auto at = [&](const TensorFile::Entry* t, std::int64_t h, std::int64_t n, std::int64_t i, std::int64_t c) {
    return static_cast<double>(t->values[static_cast<std::size_t>((h * n + i) * in.d + c)]);
  };
  Row out;
  const std::int64_t visible = *in.causal ? row + 1 + in.n_kv - in.n_q : in.n_kv;
  for (std::int64_t j = 0; j < visible; ++j) {
    double dot = 0;
    for (std::int64_t c = 0; c < in.d; ++c) dot += at(in.q, head, in.n_q, row, c) * at(in.k, kv, in.n_kv, j, c);
    out.scores.push_back(dot / std::sqrt(static_cast<double>(in.d)));
  }
  const double m = *std::max_element(out.scores.begin(), out.scores.end());
  double l = 0;
  for (double s : out.scores) out.weights.push_back(std::exp(s - m)), l += out.weights.back();
  for (double& w : out.weights) w /= l;
  for (std::int64_t c = 0; c < in.d; ++c) {
    double sum = 0;
    for (std::int64_t j = 0; j < visible; ++j)
      sum += out.weights[static_cast<std::size_t>(j)] * at(in.v, kv, in.n_kv, j, c);
    out.o.push_back(sum);
  }
  return out;
}

// The cells of a Markdown table's row, without the spaces around them; empty if the line is none.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  if (line.rfind("| ", 0) != 0) return out;
  for (std::size_t at = 2, end; (end = line.find(" |", at)) != std::string::npos; at = end + 3)
    out.push_back(line.substr(at, end - at));
  return out;
}

// How often a tile of 16 keys raised the running max m of a row, and how many tiles came after a row's first.
std::string rises(const NamedQkv& in, std::int64_t head) {
  int visits = 0, count = 0;
  for (std::int64_t row = 0; row < in.n_q; ++row) {
    const std::vector<double> s = attend(in, head, row).scores;
    double m = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < s.size(); j += 16) {
      const double tile = *std::max_element(&s[j], &s[j] + std::min<std::size_t>(16, s.size() - j));
      visits += j > 0, count += j > 0 && tile > m;
      m = std::max(m, tile);
    }
  }
  return std::to_string(count) + " of " + std::to_string(visits);
}

double weight_of_it_on_cat(const NamedQkv& in, std::int64_t head) {
  const auto is = [&](std::size_t i, const std::string& word) {
    return in.tokens[i] == word || in.tokens[i] == " " + word;
  };
  std::size_t it = 0;
  while (!is(it, "it")) ++it;
  const Row row = attend(in, head, static_cast<std::int64_t>(it));
  double sum = 0;
  for (std::size_t j = 0; j < row.weights.size(); ++j) sum += is(j, "cat") ? row.weights[j] : 0;
  return sum;
}

}  // namespace

TEST_CASE("q, k and v are taken with two, three or four axes") {
  const TensorFile plain = file_of({5, 8}, {7, 8}, {7, 8});
  const NamedQkv one = qkv_of(plain);
  CHECK((one.batch == 1 && one.q_heads == 1 && one.kv_heads == 1 && one.n_q == 5 && one.n_kv == 7 && one.d == 8));
  CHECK(one.q->name == "q");
  CHECK(one.k->name == "k");
  CHECK(one.v->name == "v");
  CHECK(one.o == nullptr);
  CHECK((one.tokens.empty() && one.heads.empty() && !one.causal && !one.start_row));

  const TensorFile grouped = file_of({6, 5, 8}, {2, 7, 8}, {2, 7, 8});
  const NamedQkv three = qkv_of(grouped);
  CHECK((three.batch == 1 && three.q_heads == 6 && three.kv_heads == 2));

  TensorFile batched = file_of({3, 6, 5, 8}, {3, 2, 7, 8}, {3, 2, 7, 8}, {{"causal", "false"}, {"start_row", "4"}});
  batched.tensors.push_back(tensor("o", {3, 6, 5, 8}));
  const NamedQkv four = qkv_of(batched);
  CHECK((four.batch == 3 && four.q_heads == 6 && four.kv_heads == 2 && four.n_q == 5 && four.n_kv == 7 && four.d == 8));
  CHECK(four.o == &batched.tensors.back());
  CHECK(four.causal == std::optional<bool>(false));
  CHECK(four.start_row == std::optional<std::int64_t>(4));
  batched.tensors.back() = tensor("o", {6, 5, 8});
  CHECK(qkv_of(batched).o == nullptr);  // somebody's o, but not this q's
}

TEST_CASE("q, k and v that do not fit together are refused with what they should be") {
  TensorFile lacking = file_of({5, 8}, {7, 8}, {7, 8});
  lacking.tensors.pop_back();
  CHECK(refusal(lacking) == "some.file: it has no tensor \"k\"; attention needs q, k and v.");
  TensorFile integers = file_of({5, 8}, {7, 8}, {7, 8});
  integers.tensors[0].dtype = "I32", integers.tensors[0].values.clear();
  CHECK(refusal(integers).find("tensor \"v\" is I32; F64, F32, F16") != std::string::npos);
  CHECK(refusal(file_of({8}, {8}, {8})).find("\"q\" has the shape [8]; [n, d]") != std::string::npos);
  CHECK(refusal(file_of({1, 1, 1, 5, 8}, {7, 8}, {7, 8})).find("[1, 1, 1, 5, 8]") != std::string::npos);
  CHECK(refusal(file_of({0, 8}, {7, 8}, {7, 8})).find("between 1 and 2^31 - 1") != std::string::npos);
  CHECK(refusal(file_of({5, 8}, {7, 4}, {7, 8})).find("same d, not 8 and 4") != std::string::npos);
  CHECK(refusal(file_of({5, 8}, {7, 8}, {7, 16})).find("same d, not 8 and 16") != std::string::npos);
  CHECK(refusal(file_of({5, 8}, {7, 8}, {6, 8})).find("same n, not 7 and 6") != std::string::npos);
  CHECK(refusal(file_of({2, 5, 8}, {2, 7, 8}, {1, 7, 8})).find("same number of heads, not 2 and 1") !=
        std::string::npos);
  CHECK(refusal(file_of({2, 1, 5, 8}, {1, 7, 8}, {1, 7, 8})).find("same batch, not 2 and 1") != std::string::npos);
  CHECK(refusal(file_of({3, 5, 8}, {2, 7, 8}, {2, 7, 8})).find("a multiple of those of \"k\" and \"v\", not 3 and 2") !=
        std::string::npos);
}

TEST_CASE("metadata that do not fit the tensors are refused") {
  const auto with = [](const char* key, const char* value) {
    return refusal(file_of({2, 3, 8}, {2, 3, 8}, {2, 3, 8}, {{key, value}}));
  };
  CHECK(with("tokens", R"(["the", " cat", " sat"])").empty());
  CHECK(with("heads", R"(["a", "b"])").empty());
  CHECK(with("anything else", "goes").empty());
  CHECK(with("tokens", "the cat sat").find("\"tokens\" must be a JSON list of strings") != std::string::npos);
  CHECK(with("tokens", R"({"a": "b"})").find("\"tokens\" must be a JSON list of strings") != std::string::npos);
  CHECK(with("tokens", R"(["the", 1, "sat"])").find("\"tokens\" must be a JSON list of strings") != std::string::npos);
  CHECK(with("tokens", R"(["the", "cat"])").find("\"tokens\" has 2 strings; it must have one for each key: 3") !=
        std::string::npos);
  CHECK(with("heads", R"(["a"])").find("\"heads\" has 1 strings") != std::string::npos);
  CHECK(with("causal", "yes").find("\"causal\" must be true or false, not \"yes\"") != std::string::npos);
  CHECK(with("start_row", "3").find("\"start_row\" must be a row of \"q\", 0 to 2, not \"3\"") != std::string::npos);
  CHECK(with("start_row", "-1").find("\"start_row\" must be a row") != std::string::npos);
}

TEST_CASE("attention in double on the committed q, k, v is the model's own attention output") {
  for (const char* name : {"smollm2.safetensors", "minilm.safetensors"}) {
    INFO(name);
    const TensorFile file = read_safetensors(folder + name);
    const NamedQkv in = qkv_of(file);
    REQUIRE(in.o);
    double worst = 0;
    for (std::int64_t head = 0; head < in.q_heads; ++head)
      for (std::int64_t row = 0; row < in.n_q; ++row) {
        const Row ours = attend(in, head, row);
        for (std::int64_t c = 0; c < in.d; ++c)
          worst = std::max(worst, std::abs(ours.o[static_cast<std::size_t>(c)] -
                                           in.o->values[static_cast<std::size_t>((head * in.n_q + row) * in.d + c)]));
      }
    CHECK(worst < 2e-6);  // the rounding of q, k, v, o to fp32, through scores up to 17
  }
}

TEST_CASE("the committed sentence is one that can be followed") {
  const TensorFile file = read_safetensors(folder + "smollm2.safetensors");
  const NamedQkv in = qkv_of(file);
  CHECK((in.q_heads == 15 && in.kv_heads == 5 && in.n_q == 48 && in.n_kv == 48 && in.d == 64));
  CHECK(in.causal == std::optional<bool>(true));
  REQUIRE(in.tokens.size() == 48);
  CHECK(in.tokens[0] == "<|endoftext|>");
  CHECK(std::accumulate(in.tokens.begin() + 1, in.tokens.end(), std::string()) == file.metadata.at("text"));

  // The row to start at is the word "it"; it looks at "cat", and finds it only in the second tile of 16 keys.
  REQUIRE(in.start_row);
  CHECK(in.tokens[static_cast<std::size_t>(*in.start_row)] == " it");
  const Row it = attend(in, 0, *in.start_row);
  const auto best = std::max_element(it.weights.begin(), it.weights.end()) - it.weights.begin();
  CHECK(in.tokens[static_cast<std::size_t>(best)] == " cat");
  CHECK(it.weights[static_cast<std::size_t>(best)] > 0.5);
  CHECK(best / 16 == 1);
}

TEST_CASE("the tables of assets/inputs/README.md say what the files hold") {
  std::ifstream readme(folder + "README.md");
  TensorFile file;
  NamedQkv in;
  int checked = 0;
  for (std::string line; std::getline(readme, line);) {
    INFO(file.source << ": " << line);
    if (line.rfind("### ", 0) == 0) {
      file = read_safetensors(folder + line.substr(4));
      in = qkv_of(file);
    }
    // entry | layer, head | what it does | special | previous | same word | after same word | it → cat | m rises
    const std::vector<std::string> row = cells(line);
    if (!in.q || row.size() != 9 || row[0].find_first_not_of("0123456789") != std::string::npos) continue;
    const std::int64_t head = std::stoll(row[0]);
    REQUIRE(head < in.q_heads);
    const std::string& name = in.heads[static_cast<std::size_t>(head)];
    const std::size_t comma = row[1].find(", ");
    CHECK(name == "layer " + row[1].substr(0, comma) + " head " + row[1].substr(comma + 2));
    CHECK(weight_of_it_on_cat(in, head) == Approx(std::stod(row[7])).margin(0.0051));
    CHECK(rises(in, head) == row[8]);
    ++checked;
  }
  CHECK(checked == 15 + 8);
}

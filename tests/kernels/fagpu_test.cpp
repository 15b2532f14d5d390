// The command line, where there need not be a GPU.
#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <string>

#include "tests/catch.h"

namespace {

struct Outcome {
  int code = -1;
  std::string text;  // stdout and stderr together
};

// Without a visible GPU, wherever the test runs.
Outcome fagpu(const std::string& arguments) {
  Outcome outcome;
  FILE* const pipe = popen(("CUDA_VISIBLE_DEVICES= " FA_FAGPU " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> part;
  while (const std::size_t size = fread(part.data(), 1, part.size(), pipe)) outcome.text.append(part.data(), size);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.size() - 1; }
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("without a GPU every command that needs one says so in one line and exits 1") {
  for (const std::string command :
       {"check", "check --fp8", "long", "bench", "measure --out /tmp/never.json", "explain"}) {
    const Outcome outcome = fagpu(command);
    INFO(command << ": " << outcome.text);
    CHECK(outcome.code == 1);
    CHECK(is_one_line(outcome.text));
    CHECK(contains(outcome.text, "no usable GPU"));
  }
}

TEST_CASE("a command line that cannot be read is exit code 2 and one line that names the argument") {
  for (const auto& [arguments, named] :
       {std::pair<std::string, std::string>{"", "check, long, bench, measure or explain"},
        {"nonsense", "nonsense"},
        {"check --d 300", "--d"},
        {"bench --n 0", "--n"},
        {"bench --element int8", "--element"},
        {"check --pass sideways", "--pass"},
        {"check --causal --full", "--full"},
        {"measure --n", "--n"}}) {
    const Outcome outcome = fagpu(arguments);
    INFO(arguments << ": " << outcome.text);
    CHECK(outcome.code == 2);
    CHECK(is_one_line(outcome.text));
    CHECK(contains(outcome.text, named));
  }
}

TEST_CASE("explain answers for a GPU that is not there, with a sentence for every refused kernel") {
  const Outcome outcome = fagpu("explain --hardware h200 --n 4096 --d 128 --causal");
  INFO(outcome.text);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.text, "forward: "));
  CHECK(contains(outcome.text, "backward: "));
  CHECK(contains(outcome.text, "was compiled for head dimensions up to 64, and the problem has d = 128."));

  const Outcome unknown = fagpu("explain --hardware nonsuch");
  CHECK(unknown.code == 1);
  CHECK(is_one_line(unknown.text));
  CHECK(contains(unknown.text, "nonsuch"));
}

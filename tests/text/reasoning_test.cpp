#include "text/dialect/reasoning.h"

#include <gtest/gtest.h>

namespace kapitsa::text {
namespace {

struct Whole {
  std::string reasoning;
  std::string answer;
  bool operator==(const Whole&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Whole& whole) {
  return out << "[" << whole.reasoning << "] [" << whole.answer << "]";
}

Whole split(std::string_view text, bool opened, size_t step) {
  ReasoningSplitter splitter(opened);
  Whole out;
  const auto add = [&](const ReasoningSplitter::Part& part) {
    out.reasoning += part.reasoning;
    out.answer += part.answer;
  };
  for (size_t i = 0; i < text.size(); i += step) add(splitter.push(text.substr(i, step)));
  add(splitter.finish());
  return out;
}

TEST(ReasoningSplitter, IsTheSameHoweverTheTextIsCut) {
  const struct {
    std::string_view text;
    bool opened;
    Whole expected;
  } cases[] = {
      {"<think>\nhm\n\nso\n</think>\n\n4\n2\n", false, {"hm\n\nso", "4\n2\n"}},
      {"\n <think>a</think>b", false, {"a", "b"}},
      {"hm\n</think>\n\n42", true, {"hm", "42"}},
      {"<think>never closed \n", false, {"never closed \n", ""}},
      {"a </thin </think>b", true, {"a </thin ", "b"}},
      {"a </think", true, {"a </think", ""}},
      {"no thought", false, {"", "no thought"}},
      {"  leading space", false, {"", "  leading space"}},
      {"<thi", false, {"", "<thi"}},
      {"<thing>", false, {"", "<thing>"}},
      {"The tag <think> is </think> text", false, {"", "The tag <think> is </think> text"}},
      {"<think>a</think>b<think>c</think>", false, {"a", "b<think>c</think>"}},
      {"<think></think>\n\nb", false, {"", "b"}},
      {"", true, {"", ""}},
      {"\n", false, {"", "\n"}},
  };
  for (const auto& one : cases) {
    for (size_t step = 1; step <= one.text.size() + 1; ++step) {
      EXPECT_EQ(split(one.text, one.opened, step), one.expected) << one.text << " by " << step;
    }
  }
}

TEST(ReasoningSplitter, HoldsBackNoMoreThanATag) {
  ReasoningSplitter splitter(false);
  EXPECT_EQ(splitter.push("Hello").answer, "Hello");
  EXPECT_EQ(splitter.push(" <").answer, " <");
  ReasoningSplitter thinking(true);
  EXPECT_EQ(thinking.push("so <").reasoning, "so ");
  EXPECT_EQ(thinking.push("b").reasoning, "<b");
}

}  // namespace
}  // namespace kapitsa::text

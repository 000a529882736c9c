#include "app/chat_input.h"

#include <gtest/gtest.h>

#include <vector>

namespace kapitsa::app {
namespace {

// The messages that these lines make, and what is unfinished after them.
struct Typed {
  std::vector<std::string> messages;
  bool open;
};
Typed type(const std::vector<std::string>& lines) {
  MessageLines message;
  Typed typed{};
  for (const auto& line : lines) {
    if (message.add(line)) typed.messages.push_back(message.take());
  }
  typed.open = message.open();
  return typed;
}
using Messages = std::vector<std::string>;

TEST(MessageLines, OneLineIsAMessage) {
  EXPECT_EQ(type({"a", " b "}).messages, (Messages{"a", " b "}));
}

TEST(MessageLines, ABackslashGoesOn) {
  EXPECT_EQ(type({"a\\", "b\\", "c", "d"}).messages, (Messages{"a\nb\nc", "d"}));
  EXPECT_TRUE(type({"a\\"}).open);
  EXPECT_EQ(type({"\\", ""}).messages, (Messages{"\n"}));
}

TEST(MessageLines, QuotesMakeABlock) {
  EXPECT_EQ(type({"\"\"\"", "a", "", " b", "\"\"\""}).messages, (Messages{"a\n\n b"}));
  EXPECT_EQ(type({"\"\"\"a", "b\\", "c\"\"\" "}).messages, (Messages{"a\nb\\\nc"}));
  EXPECT_EQ(type({"\"\"\"a\"\"\"", "b"}).messages, (Messages{"a", "b"}));
  EXPECT_EQ(type({"\"\"\"", "\"\"\"", "x"}).messages, (Messages{"", "x"}));
  EXPECT_TRUE(type({"\"\"\"", "a"}).open);
  EXPECT_TRUE(type({"\"\"\"a", "b"}).open);
  EXPECT_EQ(type({"say \"\"\"", "b"}).messages, (Messages{"say \"\"\"", "b"}));
}

TEST(ChatCommand, NameAndArgument) {
  EXPECT_FALSE(parse_command("save"));
  EXPECT_FALSE(parse_command(" /save"));
  EXPECT_FALSE(parse_command(""));
  EXPECT_EQ(parse_command("/")->name, "");
  EXPECT_EQ(parse_command("/save  my notes.md ")->name, "save");
  EXPECT_EQ(parse_command("/save  my notes.md ")->argument, "my notes.md");
  EXPECT_EQ(parse_command("/exit")->argument, "");
}

}  // namespace
}  // namespace kapitsa::app

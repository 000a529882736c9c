#include "app/conversation.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_engine.h"

namespace kapitsa::app {
namespace {

class ConversationTest : public ::testing::Test {
 protected:
  std::string spelled(const Conversation& conversation) {
    const auto prompt = conversation.prompt(engine_);
    EXPECT_TRUE(prompt.ok()) << prompt.message();
    return prompt.ok() ? engine_.words().decode(prompt->tokens) : "";
  }
  test::ScriptedEngine engine_{{}};
};

TEST_F(ConversationTest, EveryTurnIsSentAgain) {
  Conversation conversation(false);
  conversation.system = "Be brief.";
  conversation.user("one");
  conversation.assistant("two", "");
  conversation.user("three");
  const std::string text = spelled(conversation);
  size_t at = 0;
  for (const char* part :
       {"system\nBe brief.", "user\none", "assistant\ntwo", "user\nthree", "assistant\n"}) {
    at = text.find(part, at);
    ASSERT_NE(at, text.npos) << part << " in " << text;
  }
  conversation.drop_last();
  EXPECT_EQ(spelled(conversation).find("three"), std::string::npos);
  conversation.clear();
  EXPECT_EQ(conversation.messages().size(), 1u);
}

TEST_F(ConversationTest, ThinkingIsSwitchedInTheTemplate) {
  Conversation conversation(false);
  conversation.user("x");
  conversation.think = true;
  EXPECT_TRUE(conversation.prompt(engine_)->opens_reasoning);
  conversation.think = false;
  EXPECT_FALSE(conversation.prompt(engine_)->opens_reasoning);
}

TEST_F(ConversationTest, RawGoesOnWithTheText) {
  engine_.has_template = false;
  Conversation conversation(true);
  conversation.user("Once ");
  conversation.assistant("upon", "");
  conversation.user(" a time");
  const std::string text = spelled(conversation);
  EXPECT_EQ(text.substr(text.size() - 16), "Once upon a time");
}

TEST_F(ConversationTest, WithoutTemplateRawIsNamed) {
  engine_.has_template = false;
  Conversation conversation(false);
  conversation.user("x");
  const auto prompt = conversation.prompt(engine_);
  ASSERT_FALSE(prompt.ok());
  EXPECT_NE(prompt.message().find("--raw"), std::string::npos);
}

TEST_F(ConversationTest, ThoughtsAreKeptApart) {
  Conversation conversation(false);
  conversation.user("q");
  conversation.assistant("a", "hm");
  EXPECT_EQ(conversation.messages()[1]["content"], "a");
  EXPECT_EQ(conversation.messages()[1]["reasoning_content"], "hm");
  EXPECT_EQ(conversation.transcript(), "user: q\n\nassistant: a\n");
}

}  // namespace
}  // namespace kapitsa::app

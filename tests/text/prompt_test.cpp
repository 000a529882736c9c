#include "text/prompt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/scripted_text.h"

namespace kapitsa::text {
namespace {

class PromptTest : public ::testing::Test {
 protected:
  TemplateInput input(const std::string& user) {
    TemplateInput out;
    out.messages = Json::array({{{"role", "user"}, {"content", user}}});
    return out;
  }
  test::ScriptedTokenizer tokenizer_;
  test::ScriptedTemplate template_;
};

TEST_F(PromptTest, WhatAUserTypesNeverBecomesASpecialToken) {
  const auto prompt = make_prompt(&template_, tokenizer_, input("a<|im_end|>"));
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(tokenizer_.decode(prompt.value().tokens),
            "<|im_start|>user\na<|im_end|><|im_end|>\n<|im_start|>assistant\n");
  // One is the template's; the user's stays text.
  EXPECT_EQ(std::count(prompt.value().tokens.begin(), prompt.value().tokens.end(), 258), 1);
}

TEST_F(PromptTest, SeesThatTheTemplateOpensAThought) {
  TemplateInput thinking = input("hi");
  thinking.variables["enable_thinking"] = true;
  EXPECT_TRUE(make_prompt(&template_, tokenizer_, thinking)->opens_reasoning);
  EXPECT_FALSE(make_prompt(&template_, tokenizer_, thinking, "Sure")->opens_reasoning);
  TemplateInput typed = input("<think>");
  typed.add_generation_prompt = false;
  EXPECT_FALSE(make_prompt(&template_, tokenizer_, typed)->opens_reasoning);
}

TEST_F(PromptTest, SaysThatAModelHasNoTemplate) {
  const auto prompt = make_prompt(nullptr, tokenizer_, input("hi"));
  ASSERT_FALSE(prompt.ok());
  EXPECT_NE(prompt.message().find("no chat template"), std::string::npos);
}

TEST_F(PromptTest, ARawPromptGetsOneBos) {
  EXPECT_EQ(*make_raw_prompt(tokenizer_, "a", true, true), (std::vector<TokenId>{256, 'a'}));
  EXPECT_EQ(*make_raw_prompt(tokenizer_, "<s>a", true, true), (std::vector<TokenId>{256, 'a'}));
  EXPECT_EQ(*make_raw_prompt(tokenizer_, "a", true, false), (std::vector<TokenId>{'a'}));
}

}  // namespace
}  // namespace kapitsa::text

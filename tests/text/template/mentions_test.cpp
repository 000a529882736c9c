#include <gtest/gtest.h>

#include "text/template/chat_template.h"

namespace kapitsa::text {
namespace {

TEST(Mentions, WholeWordsOnly) {
  const auto compiled = ChatTemplate::compile("{% if enable_thinking is defined %}{{ x.preserve }}{% endif %}");
  ASSERT_TRUE(compiled.ok());
  EXPECT_TRUE((*compiled)->mentions("enable_thinking"));
  EXPECT_TRUE((*compiled)->mentions("preserve"));
  EXPECT_FALSE((*compiled)->mentions("thinking"));
  EXPECT_FALSE((*compiled)->mentions("enable"));
  EXPECT_FALSE((*compiled)->mentions(""));
}

}  // namespace
}  // namespace kapitsa::text

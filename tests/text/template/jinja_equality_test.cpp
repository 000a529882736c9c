// Every real template renders every conversation to the bytes that Jinja2 renders, or fails with it.
#include <gtest/gtest.h>

#include "tests/text/template/corpus.h"

namespace kapitsa::text {
namespace {

TEST(JinjaEquality, EveryTemplateAndConversation) {
  const auto paths = template_paths();
  ASSERT_GE(paths.size(), 60u) << "run scripts/fixtures";
  const Json expected = reference(paths);
  ASSERT_TRUE(expected.is_object()) << "fixtures/venv/bin/python could not run; run scripts/fixtures";

  int equal = 0, both_fail = 0;
  for (const auto& path : paths) {
    const std::string file = path.filename().string();
    const auto compiled = ChatTemplate::compile(read_text(path));
    for (const Json& conversation : conversations()) {
      const std::string name = conversation.at("name");
      SCOPED_TRACE(file + " over " + name);
      const Json& theirs = expected.at(file).at(name);
      const auto ours = compiled.ok() ? (*compiled)->render(input_of(conversation))
                                      : Result<std::string>(compiled.status());
      if (theirs.contains("error")) {
        EXPECT_FALSE(ours.ok()) << "Jinja2 says " << theirs.at("error") << "\nbut we: " << *ours;
        ++both_fail;
      } else if (ours.ok()) {
        EXPECT_EQ(*ours, theirs.at("text").get_ref<const std::string&>());
        ++equal;
      } else {
        ADD_FAILURE() << ours.message() << "\nbut Jinja2 gives: " << theirs.at("text");
      }
    }
  }
  RecordProperty("equal", equal);
  RecordProperty("both_fail", both_fail);
  // Guards against conversations that most templates would refuse, which would prove little.
  EXPECT_GT(equal, 4 * both_fail);
}

}  // namespace
}  // namespace kapitsa::text

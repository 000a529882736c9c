#include "api/openai_completions.h"

#include "tests/api/api_test.h"

namespace kapitsa::api {
namespace {

using OpenAiCompletions = ApiTest;

TEST_F(OpenAiCompletions, ThePromptIsRaw) {
  const auto answer = answer_of(openai_completions, parse(R"({"prompt": "<|im_start|>a"})"));
  EXPECT_EQ(answer->requests[0].prompt, (std::vector<text::TokenId>{256, 257, 'a'}));
  EXPECT_EQ(answer->requests[0].max_tokens, 16);
  const auto plain = answer_of(openai_completions, parse(R"({"prompt": "<s>", "parse_special": false})"));
  EXPECT_EQ(plain->requests[0].prompt, (std::vector<text::TokenId>{256, '<', 's', '>'}));
}

TEST_F(OpenAiCompletions, PromptsTimesChoicesAreAnswers) {
  const auto answer = answer_of(openai_completions, parse(R"({"prompt": [[65], [66, 67]], "n": 2})"));
  ASSERT_EQ(answer->requests.size(), 4u);
  EXPECT_EQ(answer->requests[1].choice, 1);
  EXPECT_EQ(answer->requests[2].prompt, (std::vector<text::TokenId>{66, 67}));
  EXPECT_EQ(answer->requests[2].choice, 0);
  run(*answer);
  const Json usage = answer->whole()["usage"];
  EXPECT_EQ(usage["prompt_tokens"], 3);
  EXPECT_EQ(usage["completion_tokens"], 24);
}

TEST_F(OpenAiCompletions, RefusesWhatItCannotDo) {
  const struct {
    std::string_view body, param;
  } cases[] = {
      {R"({})", "prompt"},
      {R"({"prompt": 3})", "prompt"},
      {R"({"prompt": [[]]})", "prompt"},
      {R"({"prompt": [1.5]})", "prompt"},
      {R"({"prompt": [-1]})", "prompt"},
      {R"({"prompt": [4294967361]})", "prompt"},
      {R"({"prompt": ["a", 3]})", "prompt"},
      {R"({"prompt": "a", "suffix": "b"})", "suffix"},
      {R"({"prompt": "a", "echo": true, "logprobs": 1})", "echo"},
      {R"({"prompt": "a", "best_of": 3})", "best_of"},
      {R"({"prompt": ["a", "b"], "n": 17})", "n"},
      {R"({"prompt": ["a", "b", "c", "d", "e"], "n": 16})", "n"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(error_of(openai_completions, one.body).param, one.param) << one.body;
  }
  const std::string many(5000, 'x');
  EXPECT_EQ(error_of(openai_completions, fmt::format(R"({{"prompt": "{}"}})", many)).code,
            "context_length_exceeded");
}

}  // namespace
}  // namespace kapitsa::api

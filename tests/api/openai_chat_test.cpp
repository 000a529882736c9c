#include "api/openai_chat.h"

#include "tests/api/api_test.h"

namespace kapitsa::api {
namespace {

using OpenAiChat = ApiTest;

TEST_F(OpenAiChat, FieldsReachTheEngine) {
  engine_->model.sampling.top_k = 7;
  const auto answer = answer_of(openai_chat, parse(R"({
    "model": "scripted", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5,
    "top_p": 0.9, "min_p": 0.05, "presence_penalty": 1, "frequency_penalty": -1,
    "repetition_penalty": 1.1, "seed": -3, "n": 2, "max_completion_tokens": 9, "stop": "END",
    "logprobs": true, "top_logprobs": 4, "logit_bias": {"65": -100}, "unknown": {"is": "ignored"}})"));
  ASSERT_EQ(answer->requests.size(), 2u);
  const engine::Request& request = answer->requests[1];
  EXPECT_EQ(request.choice, 1);
  EXPECT_EQ(request.max_tokens, 9);
  EXPECT_EQ(request.stop, std::vector<std::string>{"END"});
  EXPECT_EQ(request.logprobs, 4);
  EXPECT_FLOAT_EQ(request.sampling.temperature, 0.5f);
  EXPECT_FLOAT_EQ(request.sampling.top_p, 0.9f);
  EXPECT_FLOAT_EQ(request.sampling.min_p, 0.05f);
  EXPECT_FLOAT_EQ(request.sampling.presence_penalty, 1);
  EXPECT_FLOAT_EQ(request.sampling.frequency_penalty, -1);
  EXPECT_FLOAT_EQ(request.sampling.repetition_penalty, 1.1f);
  EXPECT_EQ(request.sampling.seed, static_cast<uint64_t>(-3));
  EXPECT_EQ(request.sampling.logit_bias.at(65), -100);
  // What the request leaves open is as the model's files recommend.
  EXPECT_EQ(request.sampling.top_k, 7);
}

TEST_F(OpenAiChat, WithoutASeedAnswersDiffer) {
  const Json body = parse(R"({"messages": [{"role": "user", "content": "hi"}]})");
  EXPECT_NE(answer_of(openai_chat, body)->requests[0].sampling.seed,
            answer_of(openai_chat, body)->requests[0].sampling.seed);
}

TEST_F(OpenAiChat, RendersEveryKindOfMessage) {
  EXPECT_EQ(prompt_of(openai_chat, R"({"messages": [
      {"role": "developer", "content": "be kind"},
      {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
      {"role": "assistant", "content": null, "reasoning_content": "hm",
       "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{\"p\": 1}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "out"}]},
      {"role": "user", "content": "<|im_end|>"}],
      "tools": [{"type": "function", "function": {"name": "ls", "parameters": {}}}]})"),
            "<|im_start|>tools\n"
            R"([{"type":"function","function":{"name":"ls","parameters":{}}}])"
            "<|im_end|>\n<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\na\nb<|im_end|>\n"
            "<|im_start|>assistant\n(hm)"
            R"([{"type":"function","function":{"name":"ls","arguments":{"p":1}},"id":"c1"}])"
            "<|im_end|>\n<|im_start|>tool\nout<|im_end|>\n<|im_start|>user\n<|im_end|><|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST_F(OpenAiChat, ThinkingIsSwitchedByEveryNameItHas) {
  const auto thinks = [&](std::string_view field) {
    const std::string prompt = prompt_of(
        openai_chat,
        fmt::format(R"({{"messages": [{{"role": "user", "content": "hi"}}], {}}})", field));
    return prompt.find("<think>") != std::string::npos;
  };
  EXPECT_TRUE(thinks(R"("reasoning_effort": "high")"));
  EXPECT_FALSE(thinks(R"("reasoning_effort": "none")"));
  EXPECT_TRUE(thinks(R"("enable_thinking": true)"));
  EXPECT_FALSE(thinks(R"("reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": false})"));
}

TEST_F(OpenAiChat, PutsMessagesInAnOrderThatTheTemplateTakes) {
  EXPECT_EQ(prompt_of(openai_chat, R"({"messages": [
      {"role": "user", "content": "a"}, {"role": "system", "content": "b"}, {"role": "user", "content": "c"}]})"),
            "<|im_start|>user\na\n\nb\n\nc<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(OpenAiChat, FaultsNameTheFieldTheValueAndWhatIsAllowed) {
  const struct {
    std::string_view body, param, says;
  } cases[] = {
      {R"([])", "", "object"},
      {R"({})", "messages", "at least one"},
      {R"({"messages": {}})", "messages", "array"},
      {R"({"messages": [3]})", "messages[0]", "object"},
      {R"({"messages": [{"content": "x"}]})", "messages[0].role", "missing"},
      {R"({"messages": [{"role": "boss", "content": "x"}]})", "messages[0].role", "one of: system"},
      {R"({"messages": [{"role": "user", "content": 7}]})", "messages[0].content", "7"},
      {R"({"messages": [{"role": "user", "content": [{"type": "text"}]}]})",
       "messages[0].content[0].text", "missing"},
      {R"({"messages": [{"role": "user", "content": [{"type": "dance"}]}]})",
       "messages[0].content[0].type", "dance"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{}]}]})",
       "messages[0].tool_calls[0].function", "missing"},
      {R"({"messages": [{"role": "user", "content": "x"}], "temperature": "hot"})", "temperature",
       "string (\"hot\")"},
      {R"({"messages": [{"role": "user", "content": "x"}], "temperature": 101})", "temperature",
       "between 0 and 100"},
      {R"({"messages": [{"role": "user", "content": "x"}], "n": 1.5})", "n", "integer"},
      {R"({"messages": [{"role": "user", "content": "x"}], "n": 17})", "n", "between 1 and 16"},
      {R"({"messages": [{"role": "user", "content": "x"}], "max_tokens": 0})", "max_tokens", "at least 1"},
      {R"({"messages": [{"role": "user", "content": "x"}], "seed": 99999999999999999999})", "seed", ""},
      {R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": {"messages": []}})",
       "chat_template_kwargs.messages", "messages, tools, add_generation_prompt, bos_token, eos_token"},
      {R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": {"bos_token": "<s>"}})",
       "chat_template_kwargs.bos_token", "reserved"},
      {R"({"messages": [{"role": "user", "content": "x"}], "stream": 1})", "stream", "true or false"},
      {R"({"messages": [{"role": "user", "content": "x"}], "stop": [""]})", "stop", "empty"},
      {R"({"messages": [{"role": "user", "content": "x"}], "logit_bias": {"99999": 1}})", "logit_bias",
       "99999"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "custom"}]})",
       "tools[0].type", "function"},
      {R"({"messages": [{"role": "user", "content": "raise"}]})", "", "raised by the template"},
  };
  for (const auto& one : cases) {
    const Error error = error_of(openai_chat, one.body);
    EXPECT_EQ(error.status, 400) << one.body;
    EXPECT_EQ(error.param, one.param) << one.body;
    EXPECT_NE(error.message.find(one.says), std::string::npos) << one.body << ": " << error.message;
  }
}

TEST_F(OpenAiChat, AnswersToItsNamesOnly) {
  const auto ask = [](std::string_view model) {
    return fmt::format(R"({{"model": "{}", "messages": [{{"role": "user", "content": "x"}}]}})", model);
  };
  EXPECT_EQ(error_of(openai_chat, ask("claude")).status, 404);
  service_->aliases = {"claude"};
  EXPECT_NE(answer_of(openai_chat, parse(ask("claude"))), nullptr);
  EXPECT_EQ(error_of(openai_chat, ask("other")).code, "model_not_found");
  service_->aliases = {"*"};
  EXPECT_NE(answer_of(openai_chat, parse(ask("other"))), nullptr);
}

TEST_F(OpenAiChat, ToolChoiceIsKeptOrRefused) {
  const auto body = [](std::string_view choice) {
    return fmt::format(R"({{"messages": [{{"role": "user", "content": "x"}}], "tool_choice": {},
        "tools": [{{"type": "function", "function": {{"name": "ls"}}}}]}})", choice);
  };
  EXPECT_NE(prompt_of(openai_chat, body(R"("auto")")).find("ls"), std::string::npos);
  EXPECT_NE(prompt_of(openai_chat, body("null")).find("ls"), std::string::npos);
  EXPECT_EQ(prompt_of(openai_chat, body(R"("none")")).find("ls"), std::string::npos);
  for (const std::string_view refused :
       {R"("required")", R"({"type": "function", "function": {"name": "ls"}})", R"("maybe")", "3"}) {
    EXPECT_EQ(error_of(openai_chat, body(refused)).param, "tool_choice") << refused;
  }
}

TEST_F(OpenAiChat, StreamsReasoningContentAndUsage) {
  const auto answer = answer_of(openai_chat, parse(R"({"stream": true,
      "messages": [{"role": "user", "content": "x"}], "stream_options": {"include_usage": true}})"));
  const Messages messages = run(*answer);
  std::string reasoning, content;
  for (size_t i = 0; i + 2 < messages.size(); ++i) {
    const Json delta = parse(messages[i].data)["choices"][0]["delta"];
    reasoning += delta.value("reasoning_content", "");
    content += delta.value("content", "");
  }
  EXPECT_EQ(reasoning, "hm");
  EXPECT_EQ(content, "Hello");
  EXPECT_EQ(parse(messages[messages.size() - 2].data)["usage"]["completion_tokens"], 6);
  EXPECT_EQ(messages.back().data, "[DONE]");
}

}  // namespace
}  // namespace kapitsa::api

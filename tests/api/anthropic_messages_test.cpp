#include "api/anthropic_messages.h"

#include "tests/api/api_test.h"

namespace kapitsa::api {
namespace {

using AnthropicMessages = ApiTest;

TEST_F(AnthropicMessages, EventsComeInTheProtocolsOrder) {
  const auto answer = answer_of(anthropic_messages, parse(R"({"stream": true, "max_tokens": 50,
      "messages": [{"role": "user", "content": "x"}]})"));
  std::vector<std::string> names;
  for (const Message& message : run(*answer)) {
    EXPECT_EQ(parse(message.data)["type"], message.event);
    const Json data = parse(message.data);
    std::string name = message.event;
    if (data.contains("delta")) name = fmt::format("{} {}", name, data["delta"].value("type", ""));
    // How many deltas a text came in is chance.
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "message_start", "ping", "content_block_start",
                       "content_block_delta thinking_delta", "content_block_delta signature_delta",
                       "content_block_stop", "content_block_start", "content_block_delta text_delta",
                       "content_block_stop", "message_delta ", "message_stop"}));
}

TEST_F(AnthropicMessages, RendersEveryKindOfBlock) {
  EXPECT_EQ(prompt_of(anthropic_messages, R"({
      "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=1;"},
                 {"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}],
      "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [
          {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "?"},
          {"type": "text", "text": "b"}, {"type": "tool_use", "id": "t1", "name": "ls", "input": {"p": 1}}]},
        {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "t1", "is_error": true,
           "content": [{"type": "text", "text": "out"}, {"type": "tool_reference", "tool_name": "Late"}]},
          {"type": "text", "text": "c", "cache_control": {"type": "ephemeral"}}]}],
      "tools": [{"name": "Late", "input_schema": {}, "defer_loading": true},
                {"name": "ls", "description": "lists", "input_schema": {"type": "object"}},
                {"name": "Never", "input_schema": {}, "defer_loading": true},
                {"type": "web_search_20250305", "name": "web_search"}]})"),
            "<|im_start|>tools\n"
            R"([{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object"}}},)"
            R"({"type":"function","function":{"name":"Late","description":"","parameters":{}}}])"
            "<|im_end|>\n<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\na<|im_end|>\n"
            "<|im_start|>assistant\n(hm)b"
            R"([{"id":"t1","type":"function","function":{"name":"ls","arguments":{"p":1}}}])"
            "<|im_end|>\n<|im_start|>tool\nout\nThe tool Late is now available.<|im_end|>\n"
            "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(AnthropicMessages, CacheMarksDoNotChangeThePrompt) {
  EXPECT_EQ(prompt_of(anthropic_messages, R"({"messages": [{"role": "user", "content": "a"}]})"),
            prompt_of(anthropic_messages, R"({"messages": [{"role": "user", "content": [
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}]})"));
}

TEST_F(AnthropicMessages, ThinkingIsOffUnlessAskedFor) {
  const auto thinks = [&](std::string_view field) {
    const std::string prompt = prompt_of(
        anthropic_messages,
        fmt::format(R"({{"messages": [{{"role": "user", "content": "hi"}}]{}}})", field));
    return prompt.find("<think>") != std::string::npos;
  };
  EXPECT_FALSE(thinks(""));
  EXPECT_TRUE(thinks(R"(, "thinking": {"type": "adaptive", "display": "omitted"})"));
  EXPECT_TRUE(thinks(R"(, "thinking": {"type": "enabled", "budget_tokens": 1024})"));
  EXPECT_FALSE(thinks(R"(, "thinking": {"type": "disabled"})"));
}

TEST_F(AnthropicMessages, ALastAssistantMessageIsGoneOnFrom) {
  EXPECT_EQ(prompt_of(anthropic_messages, R"({"messages": [
      {"role": "user", "content": "a"}, {"role": "assistant", "content": "Sure:"}]})"),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nSure:");
}

TEST_F(AnthropicMessages, FaultsNameTheField) {
  const struct {
    std::string_view body, param;
  } cases[] = {
      {R"({"messages": []})", "messages"},
      {R"({"messages": [{"role": "tool", "content": "x"}]})", "messages[0].role"},
      {R"({"messages": [{"role": "user"}]})", "messages[0].content"},
      {R"({"messages": [{"role": "user", "content": [{"text": "x"}]}]})", "messages[0].content[0].type"},
      {R"({"messages": [{"role": "user", "content": [{"type": "tool_use"}]}]})",
       "messages[0].content[0].type"},
      {R"({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]})",
       "messages[0].content[0]"},
      {R"({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": 3, "name": "x"}]}]})",
       "messages[0].content[0].id"},
      {R"({"messages": [{"role": "user", "content": "x"}], "system": 3})", "system"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tools": [{}]})", "tools[0].name"},
      {R"({"messages": [{"role": "user", "content": "x"}], "thinking": {"type": "maybe"}})",
       "thinking.type"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tool_choice": {"type": "any"}})",
       "tool_choice.type"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tool_choice": "auto"})", "tool_choice"},
      {R"({"messages": [{"role": "user", "content": "x"}], "output_config": {"format": {}}})",
       "output_config.format"},
      {R"({"messages": [{"role": "user", "content": "x"}], "max_tokens": "many"})", "max_tokens"},
      {R"({"messages": [{"role": "assistant", "content": "x"}]})", "messages"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(error_of(anthropic_messages, one.body).param, one.param) << one.body;
  }
}

TEST_F(AnthropicMessages, CountsWhatItWouldRun) {
  const Json body = parse(R"({"system": "be kind", "messages": [{"role": "user", "content": "x"}]})");
  Outcome outcome = anthropic_count_tokens(*service_, body);
  EXPECT_EQ(std::get<Json>(outcome)["input_tokens"],
            answer_of(anthropic_messages, body)->requests[0].prompt.size());
}

TEST_F(AnthropicMessages, MoreTokensThanThereIsRoomForAreAskedForAllTheSame) {
  const auto answer = answer_of(anthropic_messages, parse(R"({"max_tokens": 32000,
      "messages": [{"role": "user", "content": "x"}]})"));
  EXPECT_EQ(answer->requests[0].max_tokens, 32000);
}

}  // namespace
}  // namespace kapitsa::api

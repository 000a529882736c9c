// A call that a real template writes is the call that its dialect reads.
#include <gtest/gtest.h>

#include "tests/text/dialect/parsed.h"
#include "tests/text/template/corpus.h"

namespace kapitsa::text {
namespace {

const Json& tools() {
  static const Json all = Json::parse(R"([
    {"type": "function", "function": {"name": "write", "description": "Writes.", "parameters": {"type": "object",
      "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "integer"},
        "ratio": {"type": "number"}, "force": {"type": "boolean"}, "lines": {"type": "array", "items": {"type": "integer"}},
        "meta": {"type": "object"}, "none": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["path"]}}},
    {"type": "function", "function": {"name": "mcp__now", "description": "Tells.", "parameters": {"type": "object",
      "properties": {}}}}])");
  return all;
}

const Json& calls() {
  static const Json all = Json::parse(R"([
    {"name": "write", "arguments": {"path": "a b/é.txt", "content": "\n  if (a < b) \"x\" \\n </p> 🦀\n\n{\"a\": 1}\n",
      "mode": 420, "ratio": -0.5, "force": true, "lines": [1, 2], "meta": {"k": {"l": [null, "x"]}}, "none": null}},
    {"name": "write", "arguments": {"path": "5", "content": ""}},
    {"name": "mcp__now", "arguments": {}}])");
  return all;
}

// What the template writes behind the prompt of `messages` for one more message.
std::string written(const ChatTemplate& chat_template, Json messages, const Json& message) {
  TemplateInput input;
  input.messages = messages;
  input.tools = tools();
  input.variables = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  const auto prompt = chat_template.render(input);
  input.messages.push_back(message);
  input.add_generation_prompt = false;
  const auto whole = chat_template.render(input);
  EXPECT_TRUE(prompt.ok()) << prompt.message();
  EXPECT_TRUE(whole.ok()) << whole.message();
  if (!prompt.ok() || !whole.ok()) return {};
  // The prompt may end inside of a thought that the message does not begin with.
  size_t same = 0;
  while (same < prompt->size() && same < whole->size() && (*prompt)[same] == (*whole)[same]) ++same;
  const std::string_view common = std::string_view(*whole).substr(0, same);
  const size_t tag = common.rfind('<');  // one that both begin, and end otherwise
  if (tag != common.npos && common.find('>', tag) == common.npos) same = tag;
  return whole->substr(same);
}

// Everything that ends a turn is a special token, which the engine does not show.
std::string without_end(std::string text) {
  for (const std::string_view end :
       {"<|im_end|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<sep>", "</assistant>"}) {
    if (const size_t at = text.find(end); at != text.npos) text.erase(at);
  }
  return text;
}

TEST(RoundTrip, RealTemplatesAndTheirDialects) {
  const auto paths = template_paths();
  ASSERT_FALSE(paths.empty()) << "no templates: run scripts/fixtures";
  const auto offered = std::make_shared<const ToolSet>(tools());
  int tried = 0;
  for (const auto& path : paths) {
    const std::string source = read_text(path);
    const Dialect& dialect = dialect_for(source);
    if (!dialect.calls) continue;
    SCOPED_TRACE(path.stem().string() + ", " + std::string(dialect.name));
    const auto chat_template = ChatTemplate::compile(source);
    ASSERT_TRUE(chat_template.ok());
    for (const bool alone : {true, false}) {
      Json message = {{"role", "assistant"},
                      {"content", alone ? "" : "Let me see."},
                      {"tool_calls", Json::array()}};
      Json expected = Json::array();
      for (const Json& call : calls()) {
        if (alone && !message["tool_calls"].empty()) break;
        message["tool_calls"].push_back({{"id", "c1"}, {"type", "function"}, {"function", call}});
        expected.push_back({"call", call["name"], call["arguments"]});
      }
      const std::string text =
          without_end(written(**chat_template, {{{"role", "user"}, {"content", "hi"}}}, message));
      // Some leave out what is said beside a call.
      if (text.find("Let me see.") != text.npos)
        expected.insert(expected.begin(), Json({"text", "Let me see."}));
      Json events = parse_all(DialectParser(dialect, offered, false), {text});
      if (!events.empty() && events[0][0] == "text") {
        events[0][1] =
            trim(events[0][1].get<std::string>(), kWhiteSpace);  // some begin on a new line
      }
      EXPECT_EQ(events, expected) << text;
    }
    ++tried;
  }
  EXPECT_GE(tried, 15);
}

}  // namespace
}  // namespace kapitsa::text

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/text/dialect/parsed.h"
#include "tests/text/template/corpus.h"

namespace kapitsa::text {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(KAPITSA_SOURCE_DIR) / "tests/text/dialect/corpus";

Json read_json(const std::string& file) {
  return Json::parse(read_text(kCorpus / file));
}

std::string text_of(const Json& one) {
  if (!one.contains("bytes")) return one["text"].get<std::string>();
  std::string hex, out;
  for (const char c : one["bytes"].get<std::string>()) {
    if (c != ' ') hex += c;
  }
  for (size_t i = 0; i < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

class DialectCorpus : public ::testing::TestWithParam<const Dialect*> {};

TEST_P(DialectCorpus, GivesTheSameEventsHoweverTheTextIsCut) {
  const Dialect& dialect = *GetParam();
  const auto tools = std::make_shared<const ToolSet>(read_json("tools.json"));
  const Json cases = read_json(std::string(dialect.name) + ".json");
  ASSERT_FALSE(cases.empty());
  for (const Json& one : cases) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const std::string text = text_of(one);
    const auto offered = one.value("tools", true) ? tools : nullptr;
    const bool opened = one.value("opened", false);
    const auto parser = [&] { return DialectParser(dialect, offered, opened); };
    EXPECT_EQ(parse_all(parser(), {text}), one["events"]);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_EQ(parse_all(parser(), {text.substr(0, cut), text.substr(cut)}), one["events"])
          << "cut at " << cut;
    }
    for (const size_t step : {1u, 2u, 3u, 7u}) {
      std::vector<std::string> pieces;
      for (size_t i = 0; i < text.size(); i += step) pieces.push_back(text.substr(i, step));
      ASSERT_EQ(parse_all(parser(), pieces), one["events"]) << "in steps of " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DialectCorpus, ::testing::ValuesIn(dialects()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(DialectParser, GivesStringsAndTextAsTheyCome) {
  const auto tools = std::make_shared<const ToolSet>(read_json("tools.json"));
  DialectParser parser(qwen_xml(), tools, false);
  const auto push = [&](std::string_view text) {
    std::string out;
    for (const DialectEvent& event : parser.push(text)) out += event.text + "|";
    return out;
  };
  EXPECT_EQ(push("Hello"), "Hello|");
  EXPECT_EQ(push(" <"), "");  // may be a marker
  EXPECT_EQ(push("b"), " <b|");
  EXPECT_EQ(push("\n<tool_call>\n<function=write>"), "write|");
  EXPECT_EQ(push("\n<parameter=content>\nint main"), "{\"content\":\"int main|");
  EXPECT_EQ(push("() {"), "() {|");
  EXPECT_EQ(push("\n"), "");  // may be the marker's
  EXPECT_EQ(push("\"x\" <"), "\\n\\\"x\\\" |");
  EXPECT_EQ(push("\n</parameter>"), "<|");
  EXPECT_EQ(push("\n</function>"), "\"}||");
}

TEST(DialectParser, ThoughtsHoldBackNoMoreThanATag) {
  DialectParser parser(plain(), nullptr, true);
  EXPECT_EQ(parser.push("so <").at(0).text, "so ");
  EXPECT_EQ(parser.push("b").at(0).text, "<b");
  DialectParser text(plain(), nullptr, false);
  EXPECT_EQ(text.push("Hello ").at(0).text, "Hello ");
  EXPECT_EQ(text.push(" <").at(0).text, " <");
}

TEST(DialectFor, KnowsEveryRealTemplate) {
  const std::map<std::string, std::string> spoken = {
      {"Qwen3-Coder", "qwen_xml"},
      {"Qwen3.5-4B", "qwen_xml"},
      {"StepFun3.5-Flash", "qwen_xml"},
      {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron"},
      {"GLM-4.6", "flint"},
      {"GLM-4.7-Flash", "flint"},
      {"poolside-Laguna-S-2.1", "flint"},
      {"poolside-Laguna-XS-2.1", "flint"},
      {"poolside-Laguna-XS.2", "flint"},
      {"Bielik-11B-v3.0-Instruct", "hermes_json"},
      {"MiMo-VL", "hermes_json"},
      {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "hermes_json"},
      {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "hermes_json"},
      {"Qwen-QwQ-32B", "hermes_json"},
      {"Qwen-Qwen2.5-7B-Instruct", "hermes_json"},
      {"Qwen-Qwen3-0.6B", "hermes_json"},
      {"Reka-Edge", "hermes_json"},
      {"ibm-granite-granite-4.0", "hermes_json"},
      {"ibm-granite-granite-4.1", "hermes_json"},
      {"unsloth-Apriel-1.5", "hermes_json"},
  };
  const auto paths = template_paths();
  ASSERT_FALSE(paths.empty()) << "no templates: run scripts/fixtures";
  size_t seen = 0;
  for (const fs::path& path : paths) {
    const auto found = spoken.find(path.stem().string());
    const std::string expected = found == spoken.end() ? "plain" : found->second;
    EXPECT_EQ(dialect_for(read_text(path)).name, expected) << path.stem();
    seen += found != spoken.end();
  }
  EXPECT_EQ(seen, spoken.size());
  EXPECT_EQ(dialect_for("").name, "plain");
}

}  // namespace
}  // namespace kapitsa::text

// Ids equal to the Hugging Face library's, on thousands of strings that oracle.py makes.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/text/token/support.h"

namespace kapitsa::text {
namespace {

struct Oracle {
  Json base, cases;
};

Oracle ask(const std::string& name) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("kapitsa-oracle-{}-{}", name, getpid()))
          .string();
  std::filesystem::create_directories(folder);
  const std::string command =
      fmt::format("fixtures/venv/bin/python tests/text/token/oracle.py {} {}", name, folder);
  Oracle result;
  if (std::system(command.c_str()) != 0) {
    ADD_FAILURE() << command << " failed; run scripts/fixtures";
  } else {
    result = {read_json(folder + "/base.json"), read_json(folder + "/cases.json")};
  }
  std::filesystem::remove_all(folder);
  return result;
}

// Compares one variant; returns how many strings it held.
size_t compare(const Tokenizer& tokenizer, const Json& strings, const Json& variant) {
  size_t compared = 0, wrong = 0;
  for (size_t i = 0; i < strings.size() && wrong < 3; ++i) {
    const Json& expected = variant["ids"][i];
    if (expected.is_null()) continue;
    const std::string text = strings[i];
    const auto ids = tokenizer.encode(text, true);
    ++compared;
    if (ids.ok() && *ids == expected.get<std::vector<TokenId>>()) continue;
    ++wrong;
    ADD_FAILURE() << "variant " << variant["name"] << ", text " << Json(text).dump(-1, ' ', true)
                  << "\nexpected " << expected.dump() << "\ngot "
                  << (ids.ok() ? Json(*ids).dump() : ids.message());
  }
  return compared;
}

// A case of oracle.py, and a GGUF file of the same vocabulary, or none.
using Case = std::pair<const char*, std::string>;
class HuggingFace : public testing::TestWithParam<Case> {};

TEST_P(HuggingFace, IdsAreEqual) {
  const auto& [name, gguf] = GetParam();
  const Oracle oracle = ask(name);
  ASSERT_TRUE(oracle.cases.is_object());
  const Json& strings = oracle.cases["strings"];
  size_t compared = 0;
  for (const Json& variant : oracle.cases["variants"]) {
    Json json = oracle.base;
    for (const auto& [key, value] : variant["override"].items()) json[key] = value;
    const auto tokenizer = json_tokenizer(json);
    ASSERT_NE(tokenizer, nullptr) << variant["name"];
    compared += compare(*tokenizer, strings, variant);
  }
  EXPECT_GE(compared, 6000u);
  if (gguf.empty()) return;
  const auto tokenizer = gguf_tokenizer(gguf);
  ASSERT_NE(tokenizer, nullptr);
  compare(*tokenizer, strings, oracle.cases["variants"][0]);
}

INSTANTIATE_TEST_SUITE_P(Json, HuggingFace,
                         testing::Values(Case("qwen3", ""), Case("stories260k", ""),
                                         Case("smollm", "fixtures/smollm2.gguf"),
                                         Case("llama-spm", model_path("llama-spm")),
                                         Case("llama-bpe", model_path("llama-bpe")),
                                         Case("qwen35", model_path("qwen35")), Case("steps", "")),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kapitsa::text

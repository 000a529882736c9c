// Ids equal to the Hugging Face library's, on thousands of strings that oracle.py makes.
#include <unistd.h>

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

class HuggingFace : public testing::TestWithParam<const char*> {};

TEST_P(HuggingFace, IdsAreEqual) {
  const Oracle oracle = ask(GetParam());
  ASSERT_TRUE(oracle.cases.is_object());
  size_t compared = 0;
  for (const Json& variant : oracle.cases["variants"]) {
    Json json = oracle.base;
    for (const auto& [key, value] : variant["override"].items()) json[key] = value;
    const auto tokenizer = json_tokenizer(json);
    ASSERT_NE(tokenizer, nullptr) << variant["name"];
    compared += compare(*tokenizer, oracle.cases["strings"], variant);
  }
  EXPECT_GE(compared, 6000u);
}

INSTANTIATE_TEST_SUITE_P(Json, HuggingFace,
                         testing::Values("qwen3", "stories260k", "smollm", "llama-spm", "llama-bpe",
                                         "qwen35", "steps"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The same vocabulary by the other way in.
class Gguf : public testing::TestWithParam<std::pair<const char*, std::string>> {};

TEST_P(Gguf, IdsAreThoseOfTheSameVocabularyAsJson) {
  const Oracle oracle = ask(GetParam().first);
  ASSERT_TRUE(oracle.cases.is_object());
  const auto tokenizer = gguf_tokenizer(GetParam().second);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_GE(compare(*tokenizer, oracle.cases["strings"], oracle.cases["variants"][0]), 6000u);
}

INSTANTIATE_TEST_SUITE_P(Vocab, Gguf,
                         testing::Values(std::pair("smollm", "fixtures/smollm2.gguf"),
                                         std::pair("llama-spm", model_path("llama-spm")),
                                         std::pair("llama-bpe", model_path("llama-bpe")),
                                         std::pair("qwen35", model_path("qwen35"))),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kapitsa::text

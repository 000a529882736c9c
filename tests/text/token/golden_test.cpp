// The golden vocabularies: ids that llama.cpp's test suite took from the original libraries.
#include "tests/text/token/support.h"

namespace kapitsa::text {
namespace {

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, IdsAreThoseOfTheOriginalLibrary) {
  const std::string path = model_path(GetParam());
  const auto tokenizer = gguf_tokenizer(path);
  ASSERT_NE(tokenizer, nullptr);
  const std::string inputs = read_file(path + ".inp");
  std::istringstream outputs(read_file(path + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  size_t count = 0;
  std::string line;
  for (size_t at = 0; at < inputs.size() && std::getline(outputs, line); ++count) {
    const size_t end = std::min(inputs.find(separator, at), inputs.size());
    const std::string text = inputs.substr(at, end - at);
    at = end + separator.size();
    std::istringstream numbers(line);
    std::vector<TokenId> expected;
    for (TokenId id; numbers >> id;) expected.push_back(id);
    const auto ids = tokenizer->encode(text, false);
    ASSERT_TRUE(ids.ok()) << ids.message();
    EXPECT_EQ(*ids, expected) << "text: " << text;
  }
  EXPECT_GE(count, 40u);
}

INSTANTIATE_TEST_SUITE_P(Vocab, Golden,
                         testing::Values("gpt-2", "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2",
                                         "qwen35", "refact", "starcoder"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The other golden vocabularies are of kinds that this build refuses, each by its name.
class Refused : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Refused, NamesWhatItDoesNotKnow) {
  auto checkpoint = weights::Checkpoint::open(model_path(GetParam().first));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.message();
  const auto tokenizer = Tokenizer::from_gguf(checkpoint->metadata);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.status().code(), Code::kUnsupported) << tokenizer.message();
  EXPECT_NE(tokenizer.message().find(GetParam().second), std::string::npos) << tokenizer.message();
}

INSTANTIATE_TEST_SUITE_P(Vocab, Refused,
                         testing::Values(std::pair("bert-bge", "\"bert\""),
                                         std::pair("command-r", "\"command-r\""),
                                         std::pair("deepseek-coder", "\"deepseek-coder\""),
                                         std::pair("deepseek-llm", "\"deepseek-llm\""),
                                         std::pair("falcon", "\"falcon\""),
                                         std::pair("gemma-4", "\"gemma4\"")),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kapitsa::text

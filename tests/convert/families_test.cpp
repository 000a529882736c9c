// Every family as a GGUF: in float the reference's logits, in fewer bits near them.
#include "tests/convert/support.h"

namespace kapitsa::convert {
namespace {

class Families : public ::testing::TestWithParam<const char*> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(Families, FloatsGiveTheReferencesLogits) {
  const auto tokens = reference<int32_t>(GetParam(), "tokens");
  const auto want = reference<float>(GetParam(), "logits");
  for (const char* type : {"F32", "F16", "BF16"}) {
    const std::string path = folder_.file(std::string(type) + ".gguf");
    convert(golden(GetParam()), path, type);
    EXPECT_LE(largest_difference(logits(path, tokens), want), 2e-3) << type;
  }
}

// The mean over positions of what the reference's next tokens lose in likelihood, in nats.
double divergence(std::span<const float> want, std::span<const float> got, size_t vocabulary) {
  double sum = 0;
  const auto log_sum = [](std::span<const float> row) {
    double total = 0;
    for (const float x : row) total += std::exp(double{x});
    return std::log(total);
  };
  for (size_t at = 0; at < want.size(); at += vocabulary) {
    const auto w = want.subspan(at, vocabulary), g = got.subspan(at, vocabulary);
    const double wn = log_sum(w), gn = log_sum(g);
    for (size_t i = 0; i < vocabulary; ++i) sum += std::exp(w[i] - wn) * ((w[i] - wn) - (g[i] - gn));
  }
  return sum / static_cast<double>(want.size() / vocabulary);
}

// Random weights amplify errors more than trained ones; what counts is that no tensor is taken for another.
TEST_P(Families, FewerBitsAreFurtherAway) {
  const auto tokens = reference<int32_t>(GetParam(), "tokens");
  const auto want = reference<float>(GetParam(), "logits");
  const size_t vocabulary = want.size() / tokens.size();
  double before = 0;
  for (const auto& [type, most] : {std::pair("Q8_0", 0.1), std::pair("Q4_K_M", 0.8), std::pair("Q2_K", 2.0)}) {
    const std::string path = folder_.file(std::string(type) + ".gguf");
    convert(golden(GetParam()), path, type);
    const auto got = logits(path, tokens);
    ASSERT_EQ(got.size(), want.size());
    const double here = divergence(want, got, vocabulary);
    EXPECT_LT(here, most) << type;
    EXPECT_GT(here, before) << type;
    before = here;
  }
}

// What a GGUF becomes does not depend on the container that its values came from.
TEST_P(Families, AGgufsOwnGgufIsThatOfTheFolder) {
  const std::string floats = folder_.file("f32.gguf"), direct = folder_.file("direct.gguf"), again = folder_.file("again.gguf");
  convert(golden(GetParam()), floats, "F32");
  convert(golden(GetParam()), direct, "Q4_K_M");
  convert(floats, again, "Q4_K_M");
  const auto one = open(direct), other = open(again);
  EXPECT_EQ(one.metadata.size(), other.metadata.size());
  for (const auto& [key, value] : one.metadata) {
    const auto* there = other.metadata.find(key);
    ASSERT_NE(there, nullptr) << key;
    EXPECT_EQ(value, *there) << key;
  }
  ASSERT_EQ(one.tensors().size(), other.tensors().size());
  for (const auto& [name, tensor] : one.tensors()) {
    const auto* there = other.find(name);
    ASSERT_NE(there, nullptr) << name;
    EXPECT_EQ(there->format, tensor.format) << name;
    EXPECT_EQ(there->shape, tensor.shape) << name;
    EXPECT_TRUE(std::ranges::equal(there->bytes, tensor.bytes)) << name;
  }
  // The same type once more copies: nothing is lost by it.
  const Report copied = convert(direct, folder_.file("copy.gguf"), "Q4_K_M");
  EXPECT_EQ(copied.requantised, 0u);
  const auto copy = open(folder_.file("copy.gguf"));
  for (const auto& [name, tensor] : one.tensors()) EXPECT_TRUE(std::ranges::equal(copy.find(name)->bytes, tensor.bytes)) << name;
}

INSTANTIATE_TEST_SUITE_P(Golden, Families,
                         ::testing::Values("llama", "qwen2", "qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_moe", "nemotron_h", "flint"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kapitsa::convert

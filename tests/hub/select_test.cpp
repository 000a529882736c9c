#include "hub/select.h"

#include <gtest/gtest.h>

namespace kapitsa::hub {
namespace {

using Names = std::vector<std::string>;

TEST(Select, QuantisationsAreReadFromNames) {
  EXPECT_EQ(quantisation_of("Qwen3-0.6B-Q8_0.gguf"), "Q8_0");
  EXPECT_EQ(quantisation_of("qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf"), "Q4_K_M");
  EXPECT_EQ(quantisation_of("a/flint-UD-Q3_K_XL.gguf"), "UD-Q3_K_XL");
  EXPECT_EQ(quantisation_of("SmolLM2-135M-Instruct.IQ4_XS.gguf"), "IQ4_XS");
  EXPECT_EQ(quantisation_of("BF16/x-BF16-00001-of-00002.gguf"), "BF16");
  EXPECT_EQ(quantisation_of("model.gguf"), "");
  EXPECT_EQ(quantisation_of("mmproj-F16.gguf"), "");
}

TEST(Select, AQuantisationInAnyCase) {
  const Names files = {"m-Q4_0.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-Q8_0.gguf"};
  EXPECT_EQ(*select_files(files, "q8_0", "r"), Names{"m-Q8_0.gguf"});
  EXPECT_EQ(*select_files(files, "", "r"), Names{"m-Q4_K_M.gguf"});
  EXPECT_EQ(*select_files(files, "mmproj-Q8_0.gguf", "r"), Names{"mmproj-Q8_0.gguf"});
  EXPECT_FALSE(select_files(files, "Q5_0", "r").ok());
}

TEST(Select, SplitFilesComeTogether) {
  const Names files = {"m-q8_0-00001-of-00003.gguf", "m-q8_0-00003-of-00003.gguf",
                       "m-q8_0-00002-of-00003.gguf", "m-q4_0.gguf"};
  EXPECT_EQ(select_files(files, "Q8_0", "r")->size(), 3u);
  EXPECT_EQ(select_files(files, "Q8_0", "r")->front(), "m-q8_0-00001-of-00003.gguf");
  EXPECT_EQ(select_files(files, "m-q8_0-00002-of-00003.gguf", "r")->size(), 3u);
}

TEST(Select, UnslothsPrefixMayBeLeftOut) {
  EXPECT_EQ(*select_files({"m-UD-Q4_K_M.gguf"}, "Q4_K_M", "r"), Names{"m-UD-Q4_K_M.gguf"});
}

TEST(Select, SafetensorsWithTheirCompany) {
  const Names files = {".gitattributes",
                       "README.md",
                       "config.json",
                       "consolidated.safetensors",
                       "model-00001-of-00002.safetensors",
                       "model-00002-of-00002.safetensors",
                       "model.safetensors.index.json",
                       "onnx/model.safetensors",
                       "tokenizer.json"};
  EXPECT_EQ(
      *select_files(files, "", "r"),
      (Names{"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
             "model.safetensors.index.json", "tokenizer.json"}));
}

TEST(Select, NothingToRunSaysSo) {
  EXPECT_FALSE(select_files({"README.md", "config.json"}, "", "r").ok());
  EXPECT_FALSE(select_files({}, "", "r").ok());
}

}  // namespace
}  // namespace kapitsa::hub

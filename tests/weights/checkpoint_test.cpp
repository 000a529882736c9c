#include "weights/checkpoint.h"

#include <gtest/gtest.h>

#include "tests/weights/gguf_bytes.h"
#include "tests/weights/temporary_folder.h"
#include "weights/safetensors_writer.h"

namespace kapitsa::weights {
namespace {

void refused(const std::string& path, Code code, std::string_view part) {
  const auto opened = Checkpoint::open(path);
  ASSERT_FALSE(opened.ok()) << part;
  EXPECT_EQ(opened.status().code(), code) << opened.message();
  EXPECT_NE(opened.message().find(part), std::string::npos) << opened.message();
}

void write(const std::string& path, const std::vector<std::string>& names) {
  const std::vector<float> values = {1, 2, 3, 4};
  std::vector<TensorToWrite> tensors;
  for (const std::string& name : names) tensors.push_back({name, {2, 2}, values});
  ASSERT_TRUE(write_safetensors(path, tensors).ok());
}

TEST(Checkpoint, OpensGoldenFolders) {
  for (const char* family : {"llama", "qwen2", "qwen3", "stories260k"}) {
    const std::string folder = std::string("tests/golden/") + family;
    for (const std::string& path : {folder, folder + "/", folder + "/model.safetensors"}) {
      const auto opened = Checkpoint::open(path);
      ASSERT_TRUE(opened.ok()) << opened.message();
      EXPECT_EQ(opened->container, Container::safetensors);
      EXPECT_TRUE(opened->config.contains("hidden_size"));
      const auto embedding = opened->require("model.embed_tokens.weight");
      ASSERT_TRUE(embedding.ok()) << embedding.message();
      EXPECT_EQ((*embedding)->columns(), opened->config["hidden_size"].get<int64_t>());
      EXPECT_EQ((*embedding)->rows(), opened->config["vocab_size"].get<int64_t>());
      EXPECT_GT(opened->file_bytes(), 100000u);
    }
  }
  const auto stories = Checkpoint::open("tests/golden/stories260k");
  EXPECT_EQ(stories->tokenizer_json_path, "tests/golden/stories260k/tokenizer.json");
  EXPECT_TRUE(stories->generation_config.is_null());
}

TEST(Checkpoint, FindsTheOnlyGgufOfAFolder) {
  TemporaryFolder folder;
  const std::string gguf = GgufBytes(1, 0).tensor("t", {4}, 0, 0).data(16).str();
  folder.write("config.json", "{}");
  refused(folder.path(), Code::kNotFound, "holds no model");
  folder.write("a.gguf", gguf);
  const auto opened = Checkpoint::open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(opened->path, folder.file("a.gguf"));
  folder.write("b.gguf", gguf);
  refused(folder.path(), Code::kInvalid, "holds 2 .gguf files; name the one to open");
}

TEST(Checkpoint, KnowsAGgufFileByItsMagicNotItsName) {
  TemporaryFolder folder;
  const std::string gguf = GgufBytes(1, 0).tensor("t", {4}, 0, 0).data(16).str();
  EXPECT_TRUE(Checkpoint::open(folder.write("blob", gguf)).ok());
  refused(folder.write("x.gguf", "GGML...."), Code::kInvalid, "it begins with 'GGML', not 'GGUF'");
  refused(folder.write("y.gguf", "version https://git-lfs.github.com/spec/v1"), Code::kInvalid,
          "git lfs pull");
  refused(folder.write("z.gguf", gguf.substr(0, gguf.size() - 1)), Code::kCorrupt,
          "z.gguf: the tensor 't'");
  refused(folder.write("e.gguf", ""), Code::kInvalid, "empty");
  refused(folder.file("none"), Code::kNotFound, "no such file or folder");
  refused("", Code::kNotFound, "no such file or folder");
  refused("/dev/null", Code::kInvalid, "not a regular file");
}

TEST(Checkpoint, ReadsShardsThroughTheirIndex) {
  TemporaryFolder folder;
  folder.write("config.json", R"({"model_type":"llama"})");
  folder.write(
      "model.safetensors.index.json",
      R"({"metadata":{"total_size":48},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors","c":"m-2.safetensors"}})");
  write(folder.file("m-1.safetensors"), {"a", "extra"});
  refused(folder.path(), Code::kNotFound, "m-2.safetensors: is missing");
  write(folder.file("m-2.safetensors"), {"b"});
  refused(folder.path(), Code::kCorrupt, "has no tensor 'c'");
  write(folder.file("m-2.safetensors"), {"b", "c", "a"});
  const auto opened = Checkpoint::open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(opened->tensors().size(), 3u);
  EXPECT_TRUE(opened->find("a")->file->path().ends_with("m-1.safetensors"));

  write(folder.file("model.safetensors"), {"whole"});
  EXPECT_EQ(Checkpoint::open(folder.path())->tensors().size(), 1u);
}

TEST(Checkpoint, RefusesBadIndexes) {
  TemporaryFolder folder;
  folder.write("config.json", "{}");
  for (const char* index :
       {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{}})", R"({"weight_map":)"}) {
    folder.write("model.safetensors.index.json", index);
    refused(folder.path(), Code::kCorrupt, "no weight_map object");
  }
  for (const char* shard : {R"("../x")", R"("/etc/passwd")", R"("")", R"("..")", R"("a\u0000b")"}) {
    folder.write("model.safetensors.index.json",
                 std::string(R"({"weight_map":{"a":)") + shard + "}}");
    refused(folder.path(), Code::kCorrupt, "not a plain file name");
  }
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":1}})");
  refused(folder.path(), Code::kCorrupt, "not a string");
}

TEST(Checkpoint, NamesTheBrokenFile) {
  TemporaryFolder folder;
  write(folder.file("model.safetensors"), {"a"});
  refused(folder.file("model.safetensors"), Code::kNotFound, "config.json: is missing");
  folder.write("config.json", "{");
  refused(folder.path(), Code::kCorrupt, "config.json: not valid JSON");
  folder.write("config.json", "[]");
  refused(folder.path(), Code::kCorrupt, "config.json: holds no JSON object");
  folder.write("config.json", "{}");
  folder.write("tokenizer_config.json", R"({"chat_template":3})");
  refused(folder.path(), Code::kCorrupt, "tokenizer_config.json: chat_template");
  folder.write("tokenizer_config.json", "{}");
  folder.write("model.safetensors", "xx");
  refused(folder.path(), Code::kCorrupt, "model.safetensors: is 2 bytes long");
}

TEST(Checkpoint, TakesTheChatTemplateFromEveryPlace) {
  TemporaryFolder folder;
  folder.write("config.json", "{}");
  write(folder.file("model.safetensors"), {"a"});
  const auto found = [&] { return Checkpoint::open(folder.path())->chat_template; };
  EXPECT_EQ(found(), "");
  folder.write("tokenizer_config.json", R"({"chat_template":null})");
  EXPECT_EQ(found(), "");
  folder.write(
      "tokenizer_config.json",
      R"({"chat_template":[{"name":"tool_use","template":"T"},{"name":"default","template":"D"}]})");
  EXPECT_EQ(found(), "D");
  folder.write("tokenizer_config.json", R"({"chat_template":"one"})");
  EXPECT_EQ(found(), "one");
  folder.write("chat_template.json", R"({"chat_template":"two"})");
  EXPECT_EQ(found(), "two");
  folder.write("chat_template.jinja", "three\n");
  EXPECT_EQ(found(), "three\n");
}

TEST(Checkpoint, ListsTensorsItCannotReadAndSaysWhyWhenAskedForOne) {
  TemporaryFolder folder;
  folder.write("config.json", "{}");
  const std::vector<int32_t> ids = {1, 2};
  const std::vector<float> values = {1};
  const TensorToWrite tensors[] = {{"d2t", {2}, ids}, {"scale", {}, values}};
  ASSERT_TRUE(write_safetensors(folder.file("model.safetensors"), tensors).ok());
  const auto opened = Checkpoint::open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(opened->unread().at("d2t"), "I32");
  const auto refused = opened->require("d2t");
  EXPECT_EQ(refused.status().code(), Code::kUnsupported);
  EXPECT_NE(refused.message().find("'d2t' is stored as I32"), std::string::npos)
      << refused.message();
  EXPECT_EQ(opened->find("scale")->rows(), 1);
  EXPECT_EQ(opened->find("scale")->columns(), 1);
}

TEST(Checkpoint, RefusesASecondTensorOfAName) {
  Checkpoint checkpoint;
  EXPECT_TRUE(checkpoint.add({.name = "a"}).ok());
  EXPECT_FALSE(checkpoint.add({.name = "a"}).ok());
  EXPECT_FALSE(checkpoint.add_unread("a", "I8").ok());
  EXPECT_TRUE(checkpoint.add_unread("b", "I8").ok());
  EXPECT_FALSE(checkpoint.add({.name = "b"}).ok());
}

}  // namespace
}  // namespace kapitsa::weights

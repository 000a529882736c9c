#include "hub/resolve.h"

#include "hub/hf_cache.h"
#include "tests/hub/fake_hub.h"

namespace kapitsa::hub {
namespace {

namespace fs = std::filesystem;

class ResolveTest : public FakeHub {
 protected:
  void SetUp() override {
    FakeHub::SetUp();
    env_.user_catalogue = folder_ / "models.json";
    write_text(env_.user_catalogue,
               R"({"models": [{"aliases": ["tiny"], "title": "Tiny", "architecture": "llama",
      "sampling": {"temperature": 0.7}, "variants": [
        {"name": "q8_0", "repo": "org/tiny-GGUF", "format": "gguf", "part": "Q8_0"},
        {"name": "q4_0", "repo": "org/tiny-GGUF", "format": "gguf", "part": "Q4_0"}]}]})");
    add_file("org/tiny-GGUF", "tiny-Q8_0.gguf", noise(20'000, 1));
    add_file("org/tiny-GGUF", "tiny-Q4_0.gguf", noise(10'000, 2));
  }
  Result<ModelFiles> get(const std::string& model, Download download = Download::kIfMissing) {
    return resolve(model, download, env_, options_);
  }
};

TEST_F(ResolveTest, AnAliasIsPulledAndThenFoundWithoutTheNetwork) {
  EXPECT_EQ(get("tiny", Download::kNever).status().code(), Code::kNotFound);
  EXPECT_NE(get("tiny", Download::kNever).message().find("kapitsa pull tiny"), std::string::npos);
  const auto model = get("Tiny");
  ASSERT_TRUE(model.ok()) << model.message();
  EXPECT_EQ(model->path, snapshot_file("models--org--tiny-GGUF", "tiny-Q8_0.gguf"));
  EXPECT_FALSE(model->folder);
  EXPECT_EQ(model->name, "tiny");
  EXPECT_EQ(model->entry->sampling["temperature"], 0.7);
  const size_t before = requests().size();
  EXPECT_TRUE(get("tiny").ok());
  env_.offline = true;
  EXPECT_TRUE(get("tiny").ok());
  EXPECT_NE(get("tiny:q4_0").message().find("HF_HUB_OFFLINE"), std::string::npos);
  EXPECT_EQ(requests().size(), before);
}

TEST_F(ResolveTest, VariantsAndHubIds) {
  EXPECT_EQ(get("tiny:Q4_0")->path, snapshot_file("models--org--tiny-GGUF", "tiny-Q4_0.gguf"));
  EXPECT_NE(get("tiny:q2").message().find("q8_0, q4_0"), std::string::npos);
  EXPECT_EQ(get("org/tiny-GGUF:Q8_0")->name, "org/tiny-GGUF");
  EXPECT_TRUE(get("org/tiny-GGUF:tiny-Q4_0.gguf").ok());
  EXPECT_TRUE(get("org/tiny-GGUF")->entry.has_value());
  EXPECT_EQ(get("org/none").status().code(), Code::kNotFound);
}

TEST_F(ResolveTest, UnknownNamesGetASuggestion) {
  const auto model = get("tinny");
  EXPECT_EQ(model.status().code(), Code::kNotFound);
  EXPECT_NE(model.message().find("did you mean 'tiny'?"), std::string::npos) << model.message();
  EXPECT_EQ(get("").status().code(), Code::kInvalid);
}

TEST_F(ResolveTest, PathsAreTakenAsTheyAre) {
  write_text(folder_ / "some/model.gguf", "GGUF");
  EXPECT_EQ(get(folder_ / "some/model.gguf")->path, folder_ / "some/model.gguf");
  EXPECT_EQ(get(folder_ / "some")->path, folder_ / "some/model.gguf");
  write_text(folder_ / "some/other.gguf", "GGUF");
  EXPECT_EQ(get(folder_ / "some").status().code(), Code::kInvalid);
  write_text(folder_ / "hf/config.json", "{}");
  write_text(folder_ / "hf/model.safetensors", "x");
  EXPECT_TRUE(get(folder_ / "hf")->folder);
  EXPECT_EQ(get(folder_ / "hf/model.safetensors")->path, folder_ / "hf");
  EXPECT_EQ(get(folder_ / "none.gguf").status().code(), Code::kNotFound);
  EXPECT_EQ(get("/none/such").status().code(), Code::kNotFound);
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(get(folder_ / "empty").status().code(), Code::kNotFound);
}

// What the Python tools leave: a ref with a commit, links into blobs, companions of the weights.
TEST_F(ResolveTest, WhatOtherToolsDownloadedIsFound) {
  const std::string base = env_.cache + "/models--other--model";
  const std::string commit(40, 'b');
  write_text(base + "/refs/main", commit);
  write_text(base + "/blobs/c0", "{}");
  write_text(base + "/blobs/w0", "weights");
  fs::create_directories(base + "/snapshots/" + commit);
  fs::create_symlink("../../blobs/c0", base + "/snapshots/" + commit + "/config.json");
  EXPECT_EQ(get("other/model", Download::kNever).status().code(), Code::kNotFound);
  fs::create_symlink("../../blobs/w0", base + "/snapshots/" + commit + "/model.safetensors");
  const auto model = get("other/model", Download::kNever);
  ASSERT_TRUE(model.ok()) << model.message();
  EXPECT_EQ(model->path, base + "/snapshots/" + commit);
  EXPECT_TRUE(model->folder);
  EXPECT_EQ(requests().size(), 0u);
}

TEST_F(ResolveTest, MissingShardsAreNoModel) {
  const std::string folder = env_.cache + "/models--other--model/snapshots/" + kCommit;
  write_text(folder + "/config.json", "{}");
  write_text(
      folder + "/model.safetensors.index.json",
      R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})");
  write_text(folder + "/model-00001-of-00002.safetensors", "x");
  EXPECT_FALSE(get("other/model", Download::kNever).ok());
  write_text(folder + "/model-00002-of-00002.safetensors", "x");
  EXPECT_TRUE(get("other/model", Download::kNever).ok());
  const std::string gguf = env_.cache + "/models--other--split/snapshots/" + kCommit;
  write_text(gguf + "/m-Q8_0-00001-of-00002.gguf", "x");
  EXPECT_FALSE(get("other/split", Download::kNever).ok());
  write_text(gguf + "/m-Q8_0-00002-of-00002.gguf", "x");
  EXPECT_EQ(get("other/split", Download::kNever)->path, gguf + "/m-Q8_0-00001-of-00002.gguf");
}

TEST_F(ResolveTest, RemovingKeepsWhatOthersUse) {
  ASSERT_TRUE(get("tiny").ok());
  ASSERT_TRUE(get("tiny:q4_0").ok());
  const HfCache cache(env_.cache);
  // A second snapshot with the same Q8_0 blob, and a link to a file of somebody else's.
  const std::string base = cache.repo_folder("org/tiny-GGUF");
  const std::string second = base + "/snapshots/" + std::string(40, 'c');
  fs::create_directories(second);
  fs::copy_symlink(snapshot_file("models--org--tiny-GGUF", "tiny-Q8_0.gguf"),
                   second + "/renamed.gguf");
  write_text(folder_ / "mine", "precious");
  fs::create_symlink(folder_ / "mine", second + "/mine.gguf");

  auto removed = cache.remove("org/tiny-GGUF", {"tiny-Q8_0.gguf", "mine.gguf"});
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(removed->bytes, 0u);  // the other snapshot still uses the blob
  EXPECT_TRUE(fs::exists(second + "/renamed.gguf"));
  EXPECT_EQ(read_text(folder_ / "mine"), "precious");
  EXPECT_TRUE(get("tiny:q4_0", Download::kNever).ok());

  removed = cache.remove("org/tiny-GGUF", {"tiny-Q4_0.gguf"});
  EXPECT_EQ(removed->bytes, 10'000u);
  EXPECT_FALSE(fs::exists(base + "/snapshots/" + kCommit));
  removed = cache.remove("org/tiny-GGUF", {});
  EXPECT_GE(removed->bytes, 20'000u);
  EXPECT_FALSE(fs::exists(base));
  EXPECT_EQ(cache.remove("org/tiny-GGUF", {}).status().code(), Code::kNotFound);
  EXPECT_EQ(cache.remove("../x", {}).status().code(), Code::kInvalid);
}

}  // namespace
}  // namespace kapitsa::hub

#include "hub/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "hub/ids.h"
#include "tests/hub/fake_hub.h"

namespace kapitsa::hub {
namespace {

constexpr char kSmall[] = R"({"models": [
  {"aliases": ["Big", "b"], "title": "Big", "architecture": "qwen3", "parameters": 8000000000, "sampling": {"top_k": 20},
   "variants": [{"name": "q4", "repo": "org/big-GGUF", "format": "gguf", "part": "Q4_K_M", "bits": 4.5},
                {"name": "bf16", "repo": "org/big", "format": "safetensors", "size": 16000000000, "min_memory": 20000000000}]}]})";

TEST(Catalogue, TheBuiltInOneNamesEveryModelOfTheMission) {
  const auto catalogue = Catalogue::load("");
  ASSERT_TRUE(catalogue.ok()) << catalogue.message();
  for (const char* alias : {"flint", "35b", "27b", "9b", "4b", "0.8b", "lightning", "nano", "super",
                            "smollm2", "qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "qwen3-8b",
                            "qwen2.5-0.5b", "qwen2.5-7b", "FLINT"}) {
    EXPECT_NE(catalogue->find(alias), nullptr) << alias;
  }
  EXPECT_EQ(catalogue->find("35b")->title, "Qwen3.6 35B-A3B");
  EXPECT_EQ(catalogue->find("27b")->title, "Qwen3.8 27B");
  EXPECT_EQ(catalogue->find("flint")->sampling["top_k"], 20);
}

TEST(Catalogue, FlintNamesAGgufBesideTheInt4Files) {
  const auto catalogue = Catalogue::load("");
  ASSERT_TRUE(catalogue.ok());
  std::set<std::string> formats;
  for (const Variant& variant : catalogue->find("flint")->variants) formats.insert(variant.format);
  EXPECT_EQ(formats, (std::set<std::string>{"gguf", "safetensors"}));
  EXPECT_NE(find_variant(*catalogue->find("flint"), "INT4"), nullptr);
}

TEST(Catalogue, NearMissesAreSuggested) {
  const auto catalogue = Catalogue::load("");
  ASSERT_TRUE(catalogue.ok());
  EXPECT_EQ(catalogue->suggest("smolm2"), "smollm2");
  EXPECT_EQ(catalogue->suggest("flnit"), "flint");
  EXPECT_EQ(catalogue->suggest("Lightnig"), "lightning");
  EXPECT_EQ(catalogue->suggest("smollm"), "smollm2");
  EXPECT_EQ(catalogue->suggest("something-else-entirely"), "");
}

TEST(Catalogue, UsersFileIsLaidOverIt) {
  TempFolder folder;
  write_text(folder / "models.json", R"({"models": [
    {"aliases": ["flint"], "sampling": {"temperature": 0.5, "top_k": null}, "verified": true},
    {"aliases": ["mine"], "title": "Mine", "architecture": "llama",
     "variants": [{"name": "q8", "repo": "me/mine", "format": "gguf"}]}]})");
  const auto catalogue = Catalogue::load(folder / "models.json");
  ASSERT_TRUE(catalogue.ok()) << catalogue.message();
  EXPECT_EQ(catalogue->find("flint")->sampling["temperature"], 0.5);
  EXPECT_FALSE(catalogue->find("flint")->sampling.contains("top_k"));
  EXPECT_EQ(catalogue->find("flint")->sampling["top_p"], 0.95);
  EXPECT_TRUE(catalogue->find("flint")->verified);
  EXPECT_GT(catalogue->find("flint")->variants.size(), 1u);
  ASSERT_NE(catalogue->find("mine"), nullptr);
  EXPECT_EQ(catalogue->find("mine")->variants.front().revision, "main");
}

TEST(Catalogue, BadOnesSayWhere) {
  const auto fails = [](const std::string& json, const std::string& text) {
    const auto catalogue = Catalogue::parse(json, "models.json");
    ASSERT_FALSE(catalogue.ok()) << json;
    EXPECT_EQ(catalogue.status().code(), Code::kCorrupt);
    EXPECT_NE(catalogue.message().find(text), std::string::npos) << catalogue.message();
  };
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string json = kSmall;
    json.replace(json.find(from), from.size(), to);
    return json;
  };
  ASSERT_TRUE(Catalogue::parse(kSmall, "x").ok());
  fails("[]", "models");
  fails("{", "not valid JSON");
  fails(R"({"models": [3]})", "not an object");
  fails(changed("\"b\"", "\"big\""), "given twice");
  fails(changed("\"b\"", "\"a/b\""), "alias");
  fails(changed("\"title\": \"Big\"", "\"title\": 3"), "title");
  fails(changed("org/big-GGUF", "../big"), "repository");
  fails(changed("\"gguf\"", "\"zip\""), "format");
  fails(changed("8000000000", "-8"), "parameters");
  fails(changed("8000000000", "1e300"), "parameters");
  fails(changed("{\"top_k\": 20}", "{\"top_k\": \"x\"}"), "top_k");
  fails(changed("\"bits\": 4.5", "\"files\": [{\"name\": \"../x\"}]"), "outside its folder");
  fails(changed("\"bits\": 4.5", "\"files\": [{\"name\": \"x\", \"sha256\": \"12\"}]"), "64 hex");
}

TEST(Catalogue, SizesAndMemory) {
  const auto catalogue = Catalogue::parse(kSmall, "x");
  ASSERT_TRUE(catalogue.ok()) << catalogue.message();
  const Entry& big = *catalogue->find("b");
  bool estimated = false;
  EXPECT_EQ(file_bytes(big, big.variants[0], &estimated), 4'500'000'000u);
  EXPECT_TRUE(estimated);
  EXPECT_EQ(file_bytes(big, big.variants[1], &estimated), 16'000'000'000u);
  EXPECT_FALSE(estimated);
  EXPECT_GT(*memory_needed(big, big.variants[0]), 4'500'000'000u);
  EXPECT_EQ(memory_needed(big, big.variants[1]), 20'000'000'000u);
}

TEST(Fits, LeavesRoomForTheSystem) {
  EXPECT_EQ(fits(10, 0), Fit::kUnknown);
  EXPECT_EQ(fits(std::nullopt, 100), Fit::kUnknown);
  EXPECT_EQ(fits(8'000'000'000, 16'000'000'000), Fit::kYes);
  EXPECT_EQ(fits(15'000'000'000, 16'000'000'000), Fit::kTight);
  EXPECT_EQ(fits(17'000'000'000, 16'000'000'000), Fit::kNo);
  EXPECT_EQ(fits(123'000'000'000, 128'000'000'000), Fit::kYes);
}

}  // namespace
}  // namespace kapitsa::hub

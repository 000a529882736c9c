#include "hub/environment.h"

#include <map>

#include "hub/human_bytes.h"
#include "hub/progress.h"
#include "hub/url.h"
#include "tests/hub/fake_hub.h"

namespace kapitsa::hub {
namespace {

Environment from(std::map<std::string, std::string> values) {
  return read_environment([values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
}

TEST(EnvironmentTest, TheCacheIsWhereOtherToolsPutIt) {
  EXPECT_EQ(from({{"HOME", "/h"}}).cache, "/h/.cache/huggingface/hub");
  EXPECT_EQ(from({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}).cache, "/x/huggingface/hub");
  EXPECT_EQ(from({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "~/hf"}}).cache,
            "/h/hf/hub");
  EXPECT_EQ(from({{"HOME", "/h"}, {"HF_HOME", "/hf"}, {"HF_HUB_CACHE", "/c"}}).cache, "/c");
  EXPECT_EQ(from({{"HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache, "/old");
  EXPECT_EQ(from({{"HOME", "/h"}}).user_catalogue, "/h/.config/kapitsa/models.json");
}

TEST(EnvironmentTest, TokensComeFromTheirThreePlaces) {
  TempFolder folder;
  write_text(folder / "token", "hf_home\n");
  write_text(folder / "other", " hf_path \n");
  EXPECT_EQ(from({{"HF_HOME", folder.path()}}).token, "hf_home");
  EXPECT_EQ(from({{"HF_HOME", folder.path()}, {"HF_TOKEN_PATH", folder / "other"}}).token,
            "hf_path");
  EXPECT_EQ(from({{"HF_HOME", folder.path()}, {"HF_TOKEN", "hf_env"}}).token, "hf_env");
  EXPECT_EQ(from({{"HF_HOME", folder.path()}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}}).token, "");
  EXPECT_EQ(from({{"HOME", "/none"}, {"HF_TOKEN", "a\r\nHost: evil"}}).token, "");
}

TEST(EnvironmentTest, EndpointOfflineAndTimeout) {
  EXPECT_EQ(from({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(from({{"HF_ENDPOINT", "http://mirror/hf//"}}).endpoint, "http://mirror/hf");
  EXPECT_TRUE(from({{"HF_HUB_OFFLINE", "1"}}).offline);
  EXPECT_FALSE(from({{"HF_HUB_OFFLINE", "0"}}).offline);
  EXPECT_EQ(from({{"HF_HUB_ETAG_TIMEOUT", "3"}}).timeout_s, 3);
  EXPECT_EQ(from({{"HF_HUB_ETAG_TIMEOUT", "x"}}).timeout_s, 10);
}

TEST(UrlTest, OriginsTellHostsPortsAndSchemesApart) {
  EXPECT_EQ(*origin("https://huggingface.co/x"), "https://huggingface.co:443");
  EXPECT_EQ(*origin("http://a:8080/x"), "http://a:8080");
  EXPECT_NE(*origin("https://huggingface.co/x"), *origin("https://cdn-lfs.huggingface.co/x"));
  EXPECT_NE(*origin("http://a:1/"), *origin("http://a:2/"));
  EXPECT_FALSE(origin("file:///etc/passwd").ok());
}

TEST(UrlTest, RedirectsAreResolvedAndNeverLoseEncryption) {
  EXPECT_EQ(*redirect_target("https://a/x/y?q=1", "/z"), "https://a/z");
  EXPECT_EQ(*redirect_target("http://a/x", "https://b/y"), "https://b/y");
  EXPECT_FALSE(redirect_target("https://a/x", "http://a/x").ok());
  EXPECT_FALSE(redirect_target("https://a/x", "file:///x").ok());
}

TEST(HumanTest, BytesAndTimes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1500), "1.50 kB");
  EXPECT_EQ(human_bytes(999'999), "1.00 MB");
  EXPECT_EQ(human_bytes(145'000'000), "145 MB");
  EXPECT_EQ(human_bytes(25'050'000'000), "25.1 GB");
  EXPECT_EQ(clock_text(4), "0:04");
  EXPECT_EQ(clock_text(3723), "1:02:03");
}

TEST(ProgressTest, PlainLinesWhereThereIsNoTerminal) {
  TempFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  {
    ProgressBar bar("smollm2", out, false);
    bar.show({Phase::kDownloading, "f", 10, 100});
    bar.show({Phase::kVerifying, "f", 100, 100});
  }
  std::fclose(out);
  const std::string text = read_text(folder / "out");
  EXPECT_EQ(text, "smollm2  10%  10 B/100 B\nsmollm2 100%  100 B/100 B  verifying\n");
}

}  // namespace
}  // namespace kapitsa::hub

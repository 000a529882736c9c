#include "hub/ids.h"

#include <gtest/gtest.h>

namespace kapitsa::hub {
namespace {

TEST(HubId, HasRepositoryRevisionAndPart) {
  const auto plain = parse_hub_id("Qwen/Qwen3-0.6B");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->repo, "Qwen/Qwen3-0.6B");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->part, "");
  const auto full = parse_hub_id("https://huggingface.co/org/name@refs/pr/1:sub/file-Q8_0.gguf");
  ASSERT_TRUE(full.ok()) << full.message();
  EXPECT_EQ(full->repo, "org/name");
  EXPECT_EQ(full->revision, "refs/pr/1");
  EXPECT_EQ(full->part, "sub/file-Q8_0.gguf");
}

TEST(HubId, HostileOnesAreRefused) {
  for (const char* text : {"../name", "org/..", "org/../x", "/etc/passwd", "org//name", "org/na me",
                           "org/name:../x", "org/name@../x", "org/name@",
                           "org/name:", "org/name:/etc", "org/n%2e%2e", "a@b/c", "org/name\n"}) {
    EXPECT_FALSE(parse_hub_id(text).ok()) << text;
  }
}

TEST(ValidFile, StaysInItsFolder) {
  EXPECT_TRUE(valid_file("a.gguf"));
  EXPECT_TRUE(valid_file("sub/folder/a b.gguf"));
  EXPECT_TRUE(valid_file("..a/b.."));
  for (const std::string file :
       {"", "/", "/a", "a/", "..", ".", "a/../b", "a/./b", "a\\b", "a//b", "a\nb"}) {
    EXPECT_FALSE(valid_file(file)) << file;
  }
  EXPECT_FALSE(valid_file(std::string("a\0b", 3)));
  EXPECT_FALSE(valid_file(std::string(2000, 'a')));
  EXPECT_FALSE(valid_file(std::string(300, 'a')));
}

TEST(ValidEtag, IsAFileName) {
  EXPECT_TRUE(valid_etag(std::string(64, 'a')));
  EXPECT_FALSE(valid_etag("../x"));
  EXPECT_FALSE(valid_etag(".x"));
  EXPECT_FALSE(valid_etag(""));
}

}  // namespace
}  // namespace kapitsa::hub

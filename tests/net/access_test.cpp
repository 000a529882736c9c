#include "net/access.h"

#include <gtest/gtest.h>

namespace kapitsa::net {
namespace {

TEST(Access, LoopbackIsOnlyThisMachine) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "LocalHost", "::1", "a.localhost"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "192.168.1.2", "127.evil.example", "localhost.evil.example",
                           "notlocalhost", ""}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

TEST(Access, HostNamesOfOthersAreRefused) {
  EXPECT_TRUE(host_allowed("127.0.0.1:8080", {}));
  EXPECT_TRUE(host_allowed("[::1]:8080", {}));
  EXPECT_TRUE(host_allowed("localhost", {}));
  EXPECT_FALSE(host_allowed("evil.example:8080", {}));
  EXPECT_TRUE(host_allowed("box.lan:8080", {"box.lan"}));
}

TEST(Access, OriginsOfThisMachineAndEditorsMayRead) {
  EXPECT_TRUE(origin_allowed("http://localhost:5173", {}));
  EXPECT_TRUE(origin_allowed("https://127.0.0.1", {}));
  EXPECT_TRUE(origin_allowed("vscode-webview://abc", {}));
  EXPECT_FALSE(origin_allowed("https://evil.example", {}));
  EXPECT_FALSE(origin_allowed("http://localhost@evil.example", {}));
  EXPECT_FALSE(origin_allowed("null", {}));
  EXPECT_TRUE(origin_allowed("https://chat.example", {"https://chat.example"}));
  EXPECT_TRUE(origin_allowed("https://any.example", {"*"}));
}

TEST(Access, SecretsMustBeWholeAndEqual) {
  EXPECT_TRUE(same_secret("sk-local", "sk-local"));
  EXPECT_FALSE(same_secret("sk-loca", "sk-local"));
  EXPECT_FALSE(same_secret("", "sk-local"));
}

}  // namespace
}  // namespace kapitsa::net

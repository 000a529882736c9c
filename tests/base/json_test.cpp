#include "base/json.h"

#include <gtest/gtest.h>

namespace kapitsa {
namespace {

TEST(ParseJson, KeepsKeyOrder) {
  auto json = parse_json(R"({"b":1,"a":2})", "x");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->dump(), R"({"b":1,"a":2})");
}

TEST(ParseJson, NamesTheThingAndTheByte) {
  auto json = parse_json(R"({"a":})", "config.json");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.status().code(), Code::kCorrupt);
  EXPECT_NE(json.message().find("config.json: not valid JSON at byte 6"), std::string::npos) << json.message();
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_FALSE(parse_json(std::string(100000, '['), "x").ok());
  EXPECT_TRUE(parse_json(std::string(200, '[') + std::string(200, ']'), "x").ok());
  EXPECT_TRUE(parse_json("\"" + std::string(1000, '[') + "\"", "x").ok());
}

TEST(ParseJson, RefusesInvalidUtf8) { EXPECT_FALSE(parse_json("\"\xff\"", "x").ok()); }

}  // namespace
}  // namespace kapitsa

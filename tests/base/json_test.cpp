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

TEST(ParseJson, LargeObjectsKeepOrderAndTheLastOfTwo) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) text += fmt::format("\"k{}\":{},", i, i);
  text += "\"k5\":-1,\"k99999\":-2}";
  auto json = parse_json(text, "x");
  ASSERT_TRUE(json.ok()) << json.message();
  ASSERT_EQ(json->size(), 100000u);
  int i = 0;
  for (const auto& [key, value] : json->items()) {
    ASSERT_EQ(key, "k" + std::to_string(i));
    ASSERT_EQ(value.get<int>(), i == 5 ? -1 : i == 99999 ? -2 : i);
    ++i;
  }
}

TEST(ParseJson, TheLastOfTwoSmall) { EXPECT_EQ(parse_json(R"({"a":1,"b":2,"a":3})", "x")->dump(), R"({"a":3,"b":2})"); }

TEST(ParseJson, RefusesInvalidUtf8) { EXPECT_FALSE(parse_json("\"\xff\"", "x").ok()); }

}  // namespace
}  // namespace kapitsa

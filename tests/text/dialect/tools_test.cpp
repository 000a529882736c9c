#include "text/dialect/tools.h"

#include <gtest/gtest.h>

#include "text/dialect/loose_json.h"

namespace kapitsa::text {
namespace {

Schema schema_of(const Json& json) {
  return {&json, &json};
}

TEST(Schema, SaysWhichTypesAreAllowed) {
  const struct {
    std::string_view schema;
    int types;
  } cases[] = {
      {R"({"type": "string"})", kString},
      {R"({"type": ["integer", "null"]})", kInteger | kNull},
      {R"({"type": "number"})", kNumber | kInteger},
      {R"({"type": "string", "nullable": true})", kString | kNull},
      {R"({"anyOf": [{"type": "string"}, {"type": "array"}]})", kString | kArray},
      {R"({"oneOf": [{"const": true}, {"enum": [1, "a"]}]})", kBoolean | kInteger | kString},
      {R"({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]})", kString},
      {R"({"allOf": [{"type": "string"}, {"type": "null"}]})", kAnyType},
      {R"({"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": {"type": "boolean"}}})", kBoolean},
      {R"({"$ref": "#/list/1", "list": [0, {"properties": {}}]})", kObject},
      {R"({"$ref": "#/nowhere"})", kAnyType},
      {R"({"$ref": "https://example.org/schema"})", kAnyType},
      {R"({"$ref": "#"})", kAnyType},
      {R"({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]})", kAnyType},
      {R"({"description": "anything"})", kAnyType},
      {R"(true)", kAnyType},
      {R"({"type": 7, "anyOf": {}, "enum": 3})", kAnyType},
  };
  for (const auto& one : cases) {
    const Json schema = Json::parse(one.schema);
    EXPECT_EQ(schema_of(schema).types(), one.types) << one.schema;
  }
}

TEST(Schema, CoercesValues) {
  const struct {
    std::string_view value, schema, expected;
  } cases[] = {
      {R"("5")", R"({"type": "integer"})", "5"},
      {R"("5.5")", R"({"type": "integer"})", R"("5.5")"},
      {R"(5.0)", R"({"type": "integer"})", "5"},
      {R"("1e3")", R"({"type": "number"})", "1000.0"},
      {R"("TRUE")", R"({"type": "boolean"})", "true"},
      {R"(1)", R"({"type": "boolean"})", "1"},
      {R"("None")", R"({"type": ["boolean", "null"]})", "null"},
      {R"("[1, 2,]")", R"({"type": "array"})", "[1,2]"},
      {R"("{'a': True}")", R"({"type": "object"})", R"({"a":true})"},
      {R"("\"{}\"")", R"({"type": "object"})", "{}"},
      {R"("x")", R"({"type": "object"})", R"("x")"},
      {R"({"a": [1]})", R"({"type": "string"})", R"("{\"a\":[1]}")"},
      {R"(null)", R"({"type": "string"})", "null"},
      {R"(["1", 2])", R"({"items": {"type": "integer"}})", "[1,2]"},
      {R"({"a": {"b": "1"}})",
       R"({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"properties": {"b": {"type": "integer"}}}}})",
       R"({"a":{"b":1}})"},
      {R"({"k": "1"})", R"({"additionalProperties": {"type": "integer"}})", R"({"k":1})"},
      {R"({"k": "1"})",
       R"({"anyOf": [{"type": "string"}, {"properties": {"k": {"type": "number"}}}]})",
       R"({"k":1})"},
  };
  for (const auto& one : cases) {
    const Json schema = Json::parse(one.schema);
    EXPECT_EQ(coerce(Json::parse(one.value), schema_of(schema)).dump(), one.expected)
        << one.value << " as " << one.schema;
  }
}

TEST(LooseJson, ReadsWhatModelsWriteAndNothingElse) {
  const std::pair<std::string_view, std::string_view> good[] = {
      {R"({'a': "it's", "b": None, "c": [True, False,],})",
       R"({"a":"it's","b":null,"c":[true,false]})"},
      {"\"a\nb\\d\"", R"("a\nb\\d")"},
      {R"("\ud83e\udd80\ud83e")", "\"🦀\uFFFD\""},
      {" [ ] ", "[]"},
      {"-1.5e3", "-1500.0"},
  };
  for (const auto& [text, expected] : good) {
    const auto value = read_loose_json(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(value->dump(), expected) << text;
  }
  for (const std::string_view bad :
       {"", "{", "[1", "[1 2]", "{a: 1}", "{\"a\" 1}", "tru", "1 2", "'a", "-", "nan", "[,]"}) {
    EXPECT_FALSE(read_loose_json(bad)) << bad;
  }
  EXPECT_FALSE(read_loose_json(std::string(100000, '[')));
}

}  // namespace
}  // namespace kapitsa::text

// Tokenizers from the fixtures.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/json.h"
#include "text/token/tokenizer.h"
#include "weights/checkpoint.h"

namespace kapitsa::text {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path << " is missing; run scripts/fixtures";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline Json read_json(const std::string& path) {
  auto json = parse_json(read_file(path), path);
  EXPECT_TRUE(json.ok()) << (json.ok() ? "" : json.message());
  return json.ok() ? *json : Json();
}

inline std::unique_ptr<Tokenizer> gguf_tokenizer(const std::string& path) {
  auto checkpoint = weights::Checkpoint::open(path);
  if (!checkpoint.ok()) {
    ADD_FAILURE() << checkpoint.message() << " (run scripts/fixtures)";
    return nullptr;
  }
  auto tokenizer = Tokenizer::from_gguf(checkpoint->metadata);
  if (!tokenizer.ok()) {
    ADD_FAILURE() << path << ": " << tokenizer.message();
    return nullptr;
  }
  return std::move(*tokenizer);
}

inline std::unique_ptr<Tokenizer> json_tokenizer(const Json& json, const Json& config = Json()) {
  auto tokenizer = Tokenizer::from_json(json, config);
  if (!tokenizer.ok()) {
    ADD_FAILURE() << tokenizer.message();
    return nullptr;
  }
  return std::move(*tokenizer);
}

inline std::string model_path(const std::string& name) {
  return "fixtures/llama.cpp/models/ggml-vocab-" + name + ".gguf";
}

// A byte-level vocabulary of the 256 bytes, a few merges and one special token.
inline Json small_json() {
  return Json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġab": 4,
      "<": 5, "x": 6, ">": 7, "<x": 8}, "merges": ["a b", ["Ġ", "ab"], "< x"]},
      "added_tokens": [{"id": 9, "content": "<x>", "special": true, "normalized": false}],
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
      "decoder": {"type": "ByteLevel"}})");
}

}  // namespace kapitsa::text

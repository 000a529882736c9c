// Trust, ends, streaming and broken files.
#include <random>

#include "tests/text/token/support.h"
#include "text/unicode/normalize.h"

namespace kapitsa::text {
namespace {

using Ids = std::vector<TokenId>;

const Json& qwen3_json() {
  static const Json json = read_json("fixtures/qwen3-tokenizer/tokenizer.json");
  return json;
}

std::unique_ptr<Tokenizer> qwen3() {
  static const Json config = read_json("fixtures/qwen3-tokenizer/tokenizer_config.json");
  return json_tokenizer(qwen3_json(), config);
}

// The definition of byte-pair encoding, for words of ASCII letters.
Ids merged_by_hand(const Tokenizer& tokenizer, const std::string& word) {
  static const auto ranks = [] {
    std::map<std::pair<std::string, std::string>, size_t> out;
    for (const Json& merge : qwen3_json()["model"]["merges"]) {
      out.try_emplace({merge[0].get<std::string>(), merge[1].get<std::string>()}, out.size());
    }
    return out;
  }();
  std::vector<std::string> pieces;
  for (const char c : word) pieces.emplace_back(1, c);
  for (;;) {
    size_t best = SIZE_MAX, at = 0;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = ranks.find({pieces[i], pieces[i + 1]});
      if (found != ranks.end() && found->second < best) {
        best = found->second;
        at = i;
      }
    }
    if (best == SIZE_MAX) break;
    pieces[at] += pieces[at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  Ids ids;
  for (const std::string& piece : pieces) ids.push_back(*tokenizer.find(piece));
  return ids;
}

TEST(Trust, WhatAUserTypesNeverBecomesASpecialToken) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  std::mt19937 random(7);
  const std::vector<std::string> bits = {"<|im_end|>", "<|im_start|>", "<|", "im_end", "|>", "<|im_",
                                         "<|endoftext|>", "user\n", " ", "end|>"};
  for (int i = 0; i < 2000; ++i) {
    std::vector<Span> spans(1 + random() % 5);
    for (Span& span : spans) {
      for (size_t n = random() % 4; n > 0; --n) span.text += bits[random() % bits.size()];
    }
    const auto ids = tokenizer->encode(spans);
    ASSERT_TRUE(ids.ok());
    std::string text, back;
    for (const Span& span : spans) text += span.text;
    for (const TokenId id : *ids) {
      EXPECT_FALSE(tokenizer->is_special(id)) << text;
      back += tokenizer->bytes(id);
    }
    EXPECT_EQ(back, text);
  }
}

TEST(Trust, ASpecialTokenIsNeverPutTogetherFromTrustedAndUntrustedText) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<Span> spans = {{"<|im_start|>user\n<|im_", true}, {"end|><|im_end|>", false},
                                   {"<|im_end|>", true}};
  const auto ids = tokenizer->encode(spans);
  ASSERT_TRUE(ids.ok());
  std::vector<std::string> special;
  for (const TokenId id : *ids) {
    if (tokenizer->is_special(id)) special.push_back(tokenizer->piece(id));
  }
  EXPECT_EQ(special, (std::vector<std::string>{"<|im_start|>", "<|im_end|>"}));
}

TEST(Trust, TagsAreTheTemplatesToo) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  for (const char* tag : {"<think>", "</think>", "<tool_call>", "</tool_response>", "<|fim_prefix|>"}) {
    const TokenId id = *tokenizer->find(tag);
    EXPECT_EQ(*tokenizer->encode(tag, true), Ids{id}) << tag;
    const Ids typed = *tokenizer->encode(tag, false);
    EXPECT_EQ(std::count(typed.begin(), typed.end(), id), 0) << tag;
  }
}

TEST(Trust, AddedWordsMatchAnywhere) {
  Json json = small_json();
  json["added_tokens"].push_back({{"id", 9}, {"content", "abba"}, {"special", false}});
  json["added_tokens"][0]["id"] = 10;
  const auto tokenizer = json_tokenizer(json);
  ASSERT_NE(tokenizer, nullptr);
  const Ids ids = *tokenizer->encode("a abba", false);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 9), 1);
}

TEST(Trust, WordsGoAcrossSpanBorders) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<Span> spans = {{"Hel", true}, {"lo wor", false}, {"ld", true}};
  EXPECT_EQ(*tokenizer->encode(spans), *tokenizer->encode("Hello world", true));
  const std::vector<Span> marks = {{"e", true}, {"\u0301", false}};
  EXPECT_EQ(*tokenizer->encode(marks), *tokenizer->encode("\u00e9", true));
}

TEST(Trust, HoldsThroughANormalizer) {
  Json json = small_json();
  json["added_tokens"][0]["normalized"] = true;
  json["pre_tokenizer"]["use_regex"] = false;
  json["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": [{"type": "Lowercase"},
      {"type": "Replace", "pattern": {"String": "b"}, "content": "<x>"}]})");
  const auto tokenizer = json_tokenizer(json);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(*tokenizer->encode("<X>", true), Ids{9});
  EXPECT_EQ(*tokenizer->encode("<X>", false), (Ids{8, 7}));
  const std::vector<Span> spans = {{"b", true}, {"B<X>", false}, {"<X>", true}, {"<", false}, {"x>", true}};
  EXPECT_EQ(*tokenizer->encode(spans), (Ids{9, 8, 7, 8, 7, 9, 8, 7}));
}

TEST(Trust, MergesDoNotReachASpecialToken) {
  Json json = small_json();
  json["model"]["vocab"]["<x>"] = 9;
  json["model"]["merges"].push_back("<x >");
  json["model"]["ignore_merges"] = true;
  json["pre_tokenizer"]["use_regex"] = false;
  const auto tokenizer = json_tokenizer(json);
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(*tokenizer->encode("<x>", false), (Ids{8, 7}));
  EXPECT_EQ(*tokenizer->encode("<x>", true), Ids{9});
}

TEST(Encode, RefusesInvalidUtf8WithItsPosition) {
  const auto tokenizer = json_tokenizer(small_json());
  ASSERT_NE(tokenizer, nullptr);
  const std::vector<Span> spans = {{"abab", true}, {"abababab\xC3(", false}};
  const auto ids = tokenizer->encode(spans);
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.status().code(), Code::kInvalid);
  EXPECT_NE(ids.message().find("byte 12 of 14"), std::string::npos) << ids.message();
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    EXPECT_FALSE(tokenizer->encode(bad, true).ok());
  }
}

TEST(Encode, ALongWordIsNoTrouble) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  const auto ids = tokenizer->encode(std::string(1 << 20, 'a'), false);
  ASSERT_TRUE(ids.ok());
  std::string back;
  for (const TokenId id : *ids) back += tokenizer->bytes(id);
  EXPECT_EQ(back, std::string(1 << 20, 'a'));
}

TEST(Encode, ALongWordMergesAsAShortOneDoes) {
  // Below and above the length at which the way of merging changes, words of one alphabet: the pieces of a long
  // word must be what repeated joining of the lowest rank gives.
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::string word;
    for (size_t n = 20 + random() % 60; word.size() < n;) word += "aabet"[random() % 5];
    EXPECT_EQ(*tokenizer->encode(word, false), merged_by_hand(*tokenizer, word)) << word;
  }
}

TEST(Encode, EndsWhenItsCallerLeaves) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  const Cancel cancel = Cancel::within(std::chrono::hours(1));
  cancel.stop();
  for (const std::string& text : {std::string(1 << 20, 'a'), std::string("a word")}) {
    const auto ids = tokenizer->encode(text, false, cancel);
    ASSERT_FALSE(ids.ok());
    EXPECT_EQ(ids.status().code(), Code::kCancelled);
  }
}

TEST(Encode, APatternThatNeverEndsIsGivenUp) {
  Json json = small_json();
  json["pre_tokenizer"] = Json::parse(R"({"type": "Split", "pattern": {"Regex": "(?:a+)+[bc]"},
      "behavior": "Isolated"})");
  const auto tokenizer = json_tokenizer(json);
  ASSERT_NE(tokenizer, nullptr);
  const auto ids = tokenizer->encode(std::string(5000, 'a'), false);
  ASSERT_FALSE(ids.ok());
  EXPECT_NE(ids.message().find("too many steps"), std::string::npos) << ids.message();
}

TEST(Ends, ComeFromConfigurationTemplateAndKnownSpellings) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  EXPECT_EQ(tokenizer->eos, (Ids{*tokenizer->find("<|im_end|>"), *tokenizer->find("<|endoftext|>")}));
  EXPECT_FALSE(tokenizer->bos);
  EXPECT_FALSE(tokenizer->add_bos);
  EXPECT_EQ(tokenizer->description, "BPE, 151643 tokens + 26 added, pre-tokenizer qwen2");
  EXPECT_EQ(tokenizer->vocab_size(), 151669u);

  const auto stories = json_tokenizer(read_json("tests/golden/stories260k/tokenizer.json"));
  ASSERT_NE(stories, nullptr);
  EXPECT_EQ(stories->bos, 1);
  EXPECT_TRUE(stories->add_bos);
  EXPECT_FALSE(stories->add_eos);
  EXPECT_EQ(stories->eos, Ids{2});
  EXPECT_TRUE(stories->strip_leading_space);

  const auto llama = gguf_tokenizer(model_path("llama-spm"));
  ASSERT_NE(llama, nullptr);
  EXPECT_EQ(llama->bos, 1);
  EXPECT_TRUE(llama->add_bos);
  EXPECT_EQ(llama->eos, Ids{2});
}

std::string stream(const Tokenizer& tokenizer, const Ids& ids, bool at_start) {
  Detokenizer detokenizer(tokenizer, at_start);
  std::string out;
  for (const TokenId id : ids) out += detokenizer.push(id);
  return out + detokenizer.finish();
}

TEST(Detokenizer, HoldsBackWhatIsNoCharacterYet) {
  const auto tokenizer = qwen3();
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "naïve 👨‍👩‍👧 𒀀 ꙮ done\n";
  Detokenizer detokenizer(*tokenizer, true);
  std::string out;
  const auto ids = tokenizer->encode(text, false);
  ASSERT_TRUE(ids.ok());
  for (const TokenId id : *ids) {
    const std::string piece = detokenizer.push(id);
    EXPECT_EQ(piece.find("\uFFFD"), std::string::npos);
    out += piece;
  }
  EXPECT_EQ(out + detokenizer.finish(), text);
}

TEST(Detokenizer, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  const auto tokenizer = json_tokenizer(read_json("tests/golden/stories260k/tokenizer.json"));
  ASSERT_NE(tokenizer, nullptr);
  const auto bytes = [&](const std::string& text) {
    Ids ids;
    for (const unsigned char b : text) ids.push_back(*tokenizer->find(fmt::format("<0x{:02X}>", b)));
    return stream(*tokenizer, ids, false);
  };
  EXPECT_EQ(bytes("\xE2\x82\xAC"), "\u20AC");
  EXPECT_EQ(bytes("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(bytes("\xE2\x82z\xFF\x80z"), "\uFFFDz\uFFFD\uFFFDz");
  EXPECT_EQ(bytes("\xF0\x80\x80\x41\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFD\uFFFD");
}

TEST(Detokenizer, TheFirstSpaceOfASentencePieceTextIsNotShown) {
  const auto tokenizer = json_tokenizer(read_json("tests/golden/stories260k/tokenizer.json"));
  ASSERT_NE(tokenizer, nullptr);
  const Ids ids = *tokenizer->encode("Once upon a time é", false);
  EXPECT_EQ(stream(*tokenizer, ids, true), "Once upon a time é");
  EXPECT_EQ(stream(*tokenizer, ids, false), " Once upon a time é");
  EXPECT_EQ(tokenizer->bytes(-1), "");
  EXPECT_EQ(tokenizer->bytes(1 << 20), "");
}

TEST(Broken, FilesGiveAnErrorThatNamesTheFault) {
  const auto expect = [](Json json, Code code, const char* part) {
    const auto tokenizer = Tokenizer::from_json(json, Json());
    ASSERT_FALSE(tokenizer.ok()) << part;
    EXPECT_EQ(tokenizer.status().code(), code) << tokenizer.message();
    EXPECT_NE(tokenizer.message().find(part), std::string::npos) << tokenizer.message();
  };
  const auto with = [](const char* pointer, Json value) {
    Json json = small_json();
    json[Json::json_pointer(pointer)] = std::move(value);
    return json;
  };
  expect(Json(), Code::kCorrupt, "not an object");
  expect(Json::object(), Code::kCorrupt, "model is missing");
  expect(with("/model/type", "Unigram"), Code::kUnsupported, "Unigram");
  expect(with("/model/vocab/c", 2), Code::kCorrupt, "id 2 is given to both");
  expect(with("/model/vocab/c", -2), Code::kCorrupt, "id -2");
  expect(with("/model/vocab/c", int64_t{1} << 40), Code::kCorrupt, "1099511627776");
  expect(with("/model/vocab/c", "2"), Code::kCorrupt, "\"c\"");
  expect(with("/model/merges/0", "a c"), Code::kCorrupt, "\"c\"");
  expect(with("/model/merges/0", "a"), Code::kCorrupt, "merges[0]");
  expect(with("/model/merges", 3), Code::kCorrupt, "merges");
  expect(with("/model/dropout", 0.1), Code::kUnsupported, "dropout");
  expect(with("/model/unk_token", "?"), Code::kCorrupt, "unk_token");
  expect(with("/model/continuing_subword_prefix", "##"), Code::kUnsupported, "continuing_subword_prefix");
  expect(with("/added_tokens/0/id", 1), Code::kCorrupt, "id 1 is given to both");
  expect(with("/added_tokens/0/content", "ab"), Code::kCorrupt, "\"ab\"");
  expect(with("/added_tokens/0/special", 1), Code::kCorrupt, "special");
  expect(with("/normalizer", {{"type", "BertNormalizer"}}), Code::kUnsupported, "BertNormalizer");
  expect(with("/pre_tokenizer/type", "BertPreTokenizer"), Code::kUnsupported, "BertPreTokenizer");
  expect(with("/pre_tokenizer", 5), Code::kCorrupt, "pre_tokenizer");
  expect(with("/decoder/type", "CTC"), Code::kUnsupported, "CTC");
  expect(with("/post_processor", {{"type", "RobertaProcessing"}}), Code::kUnsupported, "Roberta");
  expect(with("/pre_tokenizer", Json::parse(R"({"type": "Split", "pattern": {"Regex": "[a&&b]"}})")),
         Code::kUnsupported, "&&");
  expect(with("/pre_tokenizer", Json::parse(R"({"type": "Split", "pattern": {"Regex": "(a"}})")),
         Code::kUnsupported, "(a");
}

// Damages a working file in random places: an error or a tokenizer that works, never a crash.
TEST(Broken, RandomDamageIsSurvived) {
  const std::string text = small_json().dump();
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0: damaged[at] = static_cast<char>(32 + random() % 95); break;
        case 1: damaged.erase(at, random() % 8); break;
        case 2: damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 12)); break;
      }
      if (damaged.empty()) break;
    }
    const auto json = parse_json(damaged, "damaged");
    if (!json.ok()) continue;
    const auto tokenizer = Tokenizer::from_json(*json, *json);
    if (tokenizer.ok()) {
      EXPECT_TRUE((*tokenizer)->encode("ab <x> abab\n", true).ok());
    }
  }
}

TEST(Broken, GgufKeysThatContradict) {
  const auto metadata = [] {
    weights::Metadata m;
    m.set("tokenizer.ggml.model", std::string("gpt2"));
    m.set("tokenizer.ggml.pre", std::string("gpt-2"));
    m.set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "ab"});
    m.set("tokenizer.ggml.token_type", std::vector<int64_t>{1, 1, 1});
    m.set("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
    return m;
  };
  ASSERT_TRUE(Tokenizer::from_gguf(metadata()).ok());
  const auto expect = [&](const char* key, weights::Value value, const char* part) {
    weights::Metadata m = metadata();
    m.set(key, std::move(value));
    const auto tokenizer = Tokenizer::from_gguf(m);
    ASSERT_FALSE(tokenizer.ok()) << part;
    EXPECT_NE(tokenizer.message().find(part), std::string::npos) << tokenizer.message();
  };
  expect("tokenizer.ggml.pre", std::string("tekken"), "\"tekken\"");
  expect("tokenizer.ggml.model", std::string("rwkv"), "\"rwkv\"");
  expect("tokenizer.ggml.tokens", std::vector<std::string>{}, "tokens");
  expect("tokenizer.ggml.token_type", std::vector<int64_t>{1}, "1 entries for 3");
  expect("tokenizer.ggml.token_type", std::vector<int64_t>{1, 1, 9}, "type 9");
  expect("tokenizer.ggml.merges", std::vector<std::string>{"a c"}, "\"c\"");
  expect("tokenizer.ggml.merges", std::vector<std::string>{"ab"}, "not two pieces");
  expect("tokenizer.ggml.eos_token_id", int64_t{3}, "eos_token_id is 3");
  expect("tokenizer.ggml.model", std::string("llama"), "scores has 0 entries for 3");
}

TEST(Normalize, ComposesDecomposesAndOrders) {
  EXPECT_EQ(normalize("e\u0301", Form::kNfc, nullptr), "\u00e9");
  EXPECT_EQ(normalize("q\u0307\u0323", Form::kNfc, nullptr), "q\u0323\u0307");
  EXPECT_EQ(normalize("\u1112\u1161\u11ab", Form::kNfc, nullptr), "한");
  EXPECT_EQ(normalize("한", Form::kNfd, nullptr), "\u1112\u1161\u11ab");
  EXPECT_EQ(normalize("\u0958", Form::kNfc, nullptr), "\u0915\u093c");
  EXPECT_EQ(normalize("ﬁ①", Form::kNfkc, nullptr), "fi1");
  std::string marks("\1\0\0", 3);
  normalize("e\u0301", Form::kNfc, &marks);
  EXPECT_EQ(marks, std::string(2, '\0'));
}

}  // namespace
}  // namespace kapitsa::text

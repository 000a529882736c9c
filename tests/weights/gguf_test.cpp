#include "weights/gguf.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "tests/weights/gguf_bytes.h"
#include "tests/weights/temporary_folder.h"

namespace kapitsa::weights {
namespace {

Status parse(const std::string& text, Checkpoint& out) {
  return parse_gguf(std::as_bytes(std::span(text)), nullptr, out);
}

// Expects a refusal whose message holds `part`.
void refused(const GgufBytes& file, Code code, std::string_view part) {
  Checkpoint checkpoint;
  const Status status = parse(file.str(), checkpoint);
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Gguf, ReadsSmolLm2) {
  auto opened = Checkpoint::open("fixtures/smollm2.gguf");
  ASSERT_TRUE(opened.ok()) << opened.message() << " (scripts/fixtures fetches it)";
  EXPECT_EQ(opened->container, Container::gguf);
  EXPECT_EQ(*opened->metadata.string("general.architecture"), "llama");
  EXPECT_EQ(opened->metadata.integer("llama.block_count"), 30);
  EXPECT_EQ(opened->metadata.number("llama.rope.freq_base"), 100000.0);
  EXPECT_EQ(opened->metadata.number("llama.block_count"), 30.0);
  EXPECT_EQ(opened->metadata.boolean("tokenizer.ggml.add_bos_token"), false);
  EXPECT_EQ(opened->metadata.strings("tokenizer.ggml.tokens")->size(), 49152u);
  EXPECT_EQ(opened->metadata.integers("tokenizer.ggml.token_type")->size(), 49152u);
  EXPECT_EQ(opened->metadata.string("llama.block_count"), nullptr);
  EXPECT_EQ(opened->tensors().size(), 272u);
  EXPECT_NE(opened->chat_template.find("<|im_start|>"), std::string::npos);
  auto embedding = opened->require("token_embd.weight");
  ASSERT_TRUE(embedding.ok()) << embedding.message();
  EXPECT_EQ((*embedding)->shape, (std::vector<int64_t>{49152, 576}));
  EXPECT_EQ((*embedding)->rows(), 49152);
  EXPECT_EQ((*embedding)->columns(), 576);
  EXPECT_EQ((*embedding)->bytes.size() % 49152, 0u);
  EXPECT_EQ((*embedding)->file->path(), "fixtures/smollm2.gguf");
  EXPECT_EQ(opened->file_bytes(), std::filesystem::file_size("fixtures/smollm2.gguf"));
  auto absent = opened->require("output.weight");
  EXPECT_EQ(absent.status().code(), Code::kNotFound);
}

TEST(Gguf, ReadsVocabularyOnlyFiles) {
  auto opened = Checkpoint::open("fixtures/llama.cpp/models/ggml-vocab-qwen2.gguf");
  ASSERT_TRUE(opened.ok()) << opened.message() << " (scripts/fixtures fetches it)";
  EXPECT_EQ(opened->tensors().size(), 0u);
  EXPECT_GT(opened->metadata.strings("tokenizer.ggml.tokens")->size(), 150000u);
}

TEST(Gguf, ReadsWhatTheReferenceWriterWrites) {
  TemporaryFolder folder;
  const std::string command =
      "fixtures/venv/bin/python tests/weights/make_gguf.py " + folder.path();
  ASSERT_EQ(std::system(command.c_str()), 0) << command << " (scripts/fixtures makes the venv)";
  auto opened = Checkpoint::open(folder.file("all.gguf"));
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(opened->metadata.boolean("test.yes"), true);
  EXPECT_EQ(opened->metadata.integer("test.i8"), -7);
  EXPECT_EQ(opened->metadata.integer("test.u64"), std::nullopt);
  EXPECT_EQ(opened->metadata.number("test.u64"), 0x1p64);
  EXPECT_EQ(*opened->metadata.integers("test.ints"), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(*opened->metadata.numbers("test.floats"), (std::vector<double>{0.5, -0.25}));
  EXPECT_EQ(*opened->metadata.booleans("test.bools"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(opened->metadata.strings("tokenizer.ggml.tokens")->at(2), "日本");
  EXPECT_EQ(opened->chat_template, "{{ messages }}");

  std::ifstream types(folder.file("types.txt"));
  std::ifstream expected(folder.file("all.f32"), std::ios::binary);
  size_t seen = 0;
  for (std::string name; std::getline(types, name); ++seen) {
    const Tensor* tensor = opened->find("w." + name);
    ASSERT_NE(tensor, nullptr) << name;
    EXPECT_EQ(quant::info(tensor->format).name, name);
    EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 3, 512}));
    EXPECT_EQ(tensor->rows(), 6);
    std::vector<float> theirs(6 * 512);
    expected.read(reinterpret_cast<char*>(theirs.data()),
                  static_cast<std::streamsize>(theirs.size() * 4));
    std::vector<float> ours(theirs.size());
    quant::decode_row(tensor->format, tensor->bytes.data(), ours.size(), ours.data());
    EXPECT_EQ(std::memcmp(ours.data(), theirs.data(), ours.size() * 4), 0) << name;
  }
  EXPECT_EQ(seen, opened->tensors().size());
}

GgufBytes small() {
  return GgufBytes(2, 3)
      .key("general.architecture", "llama")
      .key("general.alignment", 64)
      .text("tokenizer.ggml.tokens")
      .put(9u)
      .put(8u)
      .put(uint64_t{2})
      .text("ab")
      .text("c")
      .tensor("a", {4, 2}, 0, 0)
      .tensor("b", {32}, 8, 64)
      .data(64 + 34, 64);
}

TEST(Gguf, ReversesAxesAndHonoursTheAlignment) {
  Checkpoint checkpoint;
  const std::string text = small().str();
  const Status status = parse(text, checkpoint);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(checkpoint.find("a")->shape, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(checkpoint.find("b")->bytes.size(), 34u);
  EXPECT_EQ(reinterpret_cast<const char*>(checkpoint.find("b")->bytes.data()),
            text.data() + text.size() - 34);
}

TEST(Gguf, RefusesEveryPrefix) {
  const std::string whole = small().str();
  for (size_t size = 0; size < whole.size(); ++size) {
    Checkpoint checkpoint;
    EXPECT_FALSE(parse(std::string(whole, 0, size), checkpoint).ok()) << size;
  }
}

TEST(Gguf, RefusesATruncatedRealFile) {
  std::ifstream in("fixtures/smollm2.gguf", std::ios::binary);
  std::string head(size_t{3} << 20, '\0');
  ASSERT_TRUE(in.read(head.data(), static_cast<std::streamsize>(head.size())))
      << "run scripts/fixtures";
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    Checkpoint checkpoint;
    const Status status = parse(head.substr(0, random() % head.size()), checkpoint);
    EXPECT_EQ(status.code(), Code::kCorrupt) << status.message();
  }
}

TEST(Gguf, RefusesImpossibleHeaders) {
  refused(GgufBytes(0, 0, 1), Code::kUnsupported, "version 1");
  refused(GgufBytes(0, 0, 4), Code::kUnsupported, "version 4");
  refused(GgufBytes(0, 0, 0x03000000), Code::kUnsupported, "big-endian");
  refused(GgufBytes(0, uint64_t{1} << 60), Code::kCorrupt, "keys");
  refused(GgufBytes(uint64_t{1} << 60, 0), Code::kCorrupt, "tensors");
  refused(GgufBytes(1000, 0), Code::kCorrupt, "claims 1000 tensors, but only 0 bytes follow");
  refused(GgufBytes(0, 1000), Code::kCorrupt, "claims 1000 keys, but only 0 bytes follow");
}

TEST(Gguf, RefusesBadKeys) {
  refused(GgufBytes(0, 1).put(~uint64_t{0}).data(64), Code::kCorrupt, "key name");
  refused(GgufBytes(0, 1).text("").put(4u).put(1u).data(64), Code::kCorrupt, "key name");
  refused(GgufBytes(0, 1).text("k\n").put(4u).put(1u).data(64), Code::kCorrupt, "'k\\x0a'");
  refused(GgufBytes(0, 2).key("k", 1).key("k", 2), Code::kCorrupt, "two keys are named 'k'");
  refused(GgufBytes(0, 1).text("k").put(13u).data(64), Code::kCorrupt, "the type 13");
  refused(GgufBytes(0, 1).text("k").put(7u).put(uint8_t{2}).data(64), Code::kCorrupt, "boolean 2");
  refused(GgufBytes(0, 1).text("k").put(8u).put(~uint64_t{0}).data(64), Code::kCorrupt, "'k'");
  refused(GgufBytes(0, 1).text("k").put(9u).put(9u).put(uint64_t{1}).data(64), Code::kUnsupported,
          "array of arrays");
  refused(GgufBytes(0, 1).text("k").put(9u).put(8u).put(uint64_t{1} << 40).data(64), Code::kCorrupt,
          "array of");
  refused(GgufBytes(0, 1).text("k").put(9u).put(8u).put(uint64_t{1} << 20).data(64), Code::kCorrupt,
          "the file ends");
  refused(GgufBytes(0, 1).text("k").put(9u).put(5u).put(uint64_t{1} << 20).data(64), Code::kCorrupt,
          "the file ends");
  for (uint32_t alignment : {0u, 1u, 4u, 24u, 1u << 20}) {
    refused(GgufBytes(0, 1).key("general.alignment", alignment), Code::kCorrupt, "power of two");
  }
  refused(GgufBytes(0, 1).key("general.alignment", "x"), Code::kCorrupt, "power of two");
  refused(GgufBytes(0, 2).key("split.no", 1).key("split.count", 3), Code::kUnsupported,
          "part 2 of 3");
}

TEST(Gguf, RefusesBadTensors) {
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  refused(GgufBytes(1, 0).tensor("t", {4}, 0, 0).data(15), Code::kCorrupt,
          "takes 16 bytes at offset 0, but the file holds 15");
  refused(GgufBytes(1, 0).tensor("t", {4}, 0, 32).data(32), Code::kCorrupt, "offset 32");
  refused(GgufBytes(1, 0).tensor("t", {4}, 0, ~uint64_t{31}).data(64), Code::kCorrupt, "offset");
  refused(GgufBytes(1, 0).tensor("t", {4}, 0, 4).data(64), Code::kCorrupt,
          "no multiple of the alignment 32");
  refused(GgufBytes(1, 0).tensor("t", {kHuge, 4}, 0, 0).data(64), Code::kCorrupt, "2^63");
  refused(GgufBytes(1, 0).tensor("t", {kHuge}, 0, 0).data(64), Code::kCorrupt, "'t'");
  refused(GgufBytes(1, 0).tensor("t", {~uint64_t{0}}, 0, 0).data(64), Code::kCorrupt, "axis");
  refused(GgufBytes(1, 0).tensor("t", {0, 4}, 0, 0).data(64), Code::kCorrupt, "axis of length 0");
  refused(GgufBytes(1, 0).tensor("t", {1, 1, 1, 1, 1}, 0, 0).data(64), Code::kCorrupt, "5 axes");
  refused(GgufBytes(1, 0).tensor("t", {33}, 8, 0).data(64), Code::kCorrupt, "blocks of 32");
  refused(GgufBytes(1, 0).tensor("t", {128}, 10, 0).data(84), Code::kCorrupt,
          "the tensor 't': rows of 128 weights do not divide into Q2_K blocks of 256");
  refused(GgufBytes(1, 0).tensor("t", {256}, 15, 0).data(292), Code::kUnsupported,
          "'t' is stored as Q8_K (GGUF type 15)");
  refused(GgufBytes(1, 0).tensor("t", {256}, 99, 0).data(66), Code::kUnsupported,
          "an unknown type (GGUF type 99)");
  refused(GgufBytes(2, 0).tensor("t", {4}, 0, 0).tensor("t", {4}, 0, 32).data(64), Code::kCorrupt,
          "two tensors are named 't'");
  refused(GgufBytes(2, 0).tensor("t", {16}, 0, 0).tensor("u", {4}, 0, 32).data(64), Code::kCorrupt,
          "'u' at offset 32 overlaps 't', which ends at 64");
}

}  // namespace
}  // namespace kapitsa::weights

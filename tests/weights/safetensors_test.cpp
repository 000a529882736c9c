#include "weights/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/weights/temporary_folder.h"
#include "weights/safetensors_writer.h"

namespace kapitsa::weights {
namespace {

std::string file(std::string_view header, size_t data) {
  const uint64_t length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), sizeof(length));
  return text.append(header).append(data, '\x01');
}

Result<std::vector<StoredTensor>> parse(const std::string& text) {
  return parse_safetensors(std::as_bytes(std::span(text)));
}

void refused(const std::string& text, std::string_view part) {
  const auto tensors = parse(text);
  ASSERT_FALSE(tensors.ok()) << part;
  EXPECT_EQ(tensors.status().code(), Code::kCorrupt);
  EXPECT_NE(tensors.message().find(part), std::string::npos) << tensors.message();
}

constexpr std::string_view kTwo =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[2,3],"data_offsets":[8,20]},)"
    R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}   )";

TEST(Safetensors, ReadsTensorsOfAnyTypeInTheOrderOfTheirBytes) {
  const std::string text = file(kTwo, 20);
  const auto tensors = parse(text);
  ASSERT_TRUE(tensors.ok()) << tensors.message();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].dtype, "I64");
  EXPECT_EQ((*tensors)[1].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((*tensors)[1].bytes.size(), 12u);
  EXPECT_EQ(format_of("BF16"), quant::Format::bf16);
  EXPECT_EQ(format_of("I64"), std::nullopt);
}

TEST(Safetensors, ReadsTheReferenceLibrarysFiles) {
  for (const char* family : {"llama", "qwen2", "qwen3"}) {
    const std::string path = std::string("tests/golden/") + family + "/reference.safetensors";
    const auto opened = SafetensorsFile::open(path);
    ASSERT_TRUE(opened.ok()) << opened.message();
    EXPECT_EQ(opened->find("logits")->dtype, "F32");
    EXPECT_EQ(opened->find("tokens")->dtype, "I32");
    EXPECT_EQ(opened->find("nothing"), nullptr);
  }
}

TEST(Safetensors, AcceptsEmptyTensorsUnknownFieldsAndNewTypes) {
  EXPECT_TRUE(parse(file("{}", 0)).ok());
  EXPECT_TRUE(parse(file(R"({"a":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]}})", 0)).ok());
  EXPECT_TRUE(
      parse(
          file(
              R"({"a":{"x":{"dtype":[1,{"y":2}]},"z":3,"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
              4))
          .ok());
  EXPECT_TRUE(parse(file(R"({"a":{"dtype":"F3_NEW","shape":[9],"data_offsets":[0,4]}})", 4)).ok());
  EXPECT_TRUE(parse(file(R"({"a":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}})", 4)).ok());
}

TEST(Safetensors, RefusesEveryPrefix) {
  const std::string whole = file(kTwo, 20);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse(whole.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(parse(whole + "x").ok());
}

TEST(Safetensors, RefusesContradictions) {
  const auto one = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return file(fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype,
                            shape, offsets),
                8);
  };
  ASSERT_TRUE(parse(one("F32", "[2]", "[0,8]")).ok());
  refused(one("F32", "[3]", "[0,8]"),
          "'a' of shape [3] in F32 takes 96 bits, but its offsets hold 8 bytes");
  refused(one("F32", "[2]", "[0,12]"), "the file holds 8");
  refused(one("F32", "[1]", "[0,4]"), "end at byte 4, but the file holds 8");
  refused(one("F32", "[1]", "[4,8]"), "the bytes 4 to 8");
  refused(one("F32", "[2]", "[8,0]"), "the bytes 8 to 0");
  refused(one("F4", "[15]", "[0,8]"), "60 bits");
  refused(one("F32", "[4611686018427387904,4]", "[0,8]"), "2^63");
  refused(one("F64", "[4611686018427387904]", "[0,8]"), "'a'");
  refused(one("F32", "[18446744073709551615]", "[0,8]"), "axis");
  refused(one("F32", "[99999999999999999999999]", "[0,8]"), "a fraction in its shape");
  refused(one("F32", "[-2]", "[0,8]"), "a negative number in its shape");
  refused(one("F32", "[2.0]", "[0,8]"), "a fraction in its shape");
  refused(one("F32", "2", "[0,8]"), "a number in its shape");
  refused(one("F32", "[[2]]", "[0,8]"), "an array in its shape");
  refused(one("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), "more than 8 axes");
  refused(one("F32", "[2]", "[0,8,9]"), "more than two");
  refused(one("F32", "[2]", "[0]"), "needs a dtype, a shape and two data_offsets");
  refused(one("F32", "[2]", "[0],\"data_offsets\":[8]"), "repeats its data_offsets");
  const std::string_view same = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  refused(
      file(fmt::format(R"({{{},"a":{{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}}})", same),
           8),
      "two tensors are named 'a'");
  refused(
      file(fmt::format(R"({{{},"b":{{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}}})", same),
           8),
      "the bytes 2 to 6");
}

TEST(Safetensors, RefusesBadHeaders) {
  refused("abc", "3 bytes");
  refused(std::string(8, '\xff') + "{}", "claims a header of 18446744073709551615 bytes");
  refused(file("", 0), "JSON");
  refused(file("[]", 0), "an array, not an object");
  refused(file("7", 0), "a number, not an object");
  refused(file(R"({"a":1})", 0), "'a' is a number");
  refused(file(R"({"a":{}})", 0), "needs a dtype");
  refused(file(R"({"__metadata__":{"x":1}})", 0), "__metadata__ value 'x' is a number");
  refused(file(R"({"__metadata__":{"x":{}}})", 0), "an object, not a string");
  refused(file("{\"\xff\":1}", 0), "not valid JSON");
  refused(file(std::string(50000, '['), 0), "an array");
  refused(file(R"({"a":{"x":)" + std::string(50000, '['), 0), "not valid JSON");
  const auto pointer = parse("version https://git-lfs.github.com/spec/v1\n");
  EXPECT_NE(pointer.message().find("git lfs pull"), std::string::npos) << pointer.message();
}

TEST(SafetensorsWriter, WritesWhatTheReaderReads) {
  TemporaryFolder folder;
  const std::vector<float> floats = {1.5f, -2, 3, 4, 5, 6};
  const std::vector<int32_t> ints = {7, -8, 9};
  const TensorToWrite tensors[] = {
      {"ids", {3}, ints}, {"logits", {2, 3}, floats}, {"none", {0, 4}, std::span<const float>()}};
  const std::string path = folder.file("out.safetensors");
  for (int round = 0; round < 2; ++round) {  // the second replaces the first
    const Status status = write_safetensors(path, tensors);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  const auto opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ(opened->find("ids")->dtype, "I32");
  const StoredTensor* logits = opened->find("logits");
  EXPECT_EQ(logits->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(logits->bytes.data(), floats.data(), 24), 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "left a temporary file";

  const std::string command =
      "fixtures/venv/bin/python -c \"from safetensors.numpy import load_file; f = load_file('" +
      path +
      "'); assert f['logits'].tolist() == [[1.5, -2, 3], [4, 5, 6]] and f['ids'].tolist() == [7, "
      "-8, 9]\"";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(SafetensorsWriter, RefusesWhatItCannotWriteAndLeavesNothing) {
  TemporaryFolder folder;
  const std::vector<float> values(6);
  const auto write = [&](std::vector<TensorToWrite> tensors, const std::string& path) {
    return write_safetensors(path, tensors);
  };
  const std::string path = folder.file("out.safetensors");
  EXPECT_EQ(write({{"a", {2, 2}, values}}, path).code(), Code::kInvalid);
  EXPECT_EQ(write({{"a", {6}, values}, {"a", {6}, values}}, path).code(), Code::kInvalid);
  EXPECT_EQ(write({{"__metadata__", {6}, values}}, path).code(), Code::kInvalid);
  EXPECT_EQ(write({{"\xff", {6}, values}}, path).code(), Code::kInvalid);
  EXPECT_EQ(write({{"a", {6}, values}}, folder.path()).code(), Code::kInvalid);
  EXPECT_EQ(write({{"a", {6}, values}}, "/dev/null").code(), Code::kInvalid);
  EXPECT_EQ(write({{"a", {6}, values}}, folder.file("no/such/out")).code(), Code::kUnavailable);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SafetensorsWriter, TakesTensorsPieceByPiece) {
  TemporaryFolder folder;
  const std::string path = folder.file("out.safetensors");
  const std::vector<SafetensorsWriter::Declared> declared = {
      {"a", {3, 2}}, {"ids", {2}, SafetensorsWriter::Type::kI32}};
  {
    auto writer = SafetensorsWriter::create(path, declared);
    ASSERT_TRUE(writer.ok()) << writer.message();
    const std::vector<float> last = {5, 6}, first = {1, 2};
    const std::vector<int32_t> ids = {7, 8};
    EXPECT_TRUE(writer->write(0, 4, last).ok());
    EXPECT_TRUE(writer->write(1, 0, ids).ok());
    EXPECT_TRUE(writer->write(0, 0, first).ok());
    EXPECT_EQ(writer->write(0, 5, last).code(), Code::kInvalid);
    EXPECT_EQ(writer->write(0, -1, last).code(), Code::kInvalid);
    EXPECT_EQ(writer->write(2, 0, last).code(), Code::kInvalid);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(writer->finish().ok());
  }
  const auto opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened.ok()) << opened.message();
  const float want[] = {1, 2, 0, 0, 5, 6};
  EXPECT_EQ(std::memcmp(opened->find("a")->bytes.data(), want, sizeof want), 0);
  const int32_t ids[] = {7, 8};
  EXPECT_EQ(std::memcmp(opened->find("ids")->bytes.data(), ids, sizeof ids), 0);

  std::filesystem::remove(path);
  { const auto unfinished = SafetensorsWriter::create(path, declared); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace kapitsa::weights

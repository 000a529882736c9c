#include "base/file_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace kapitsa {
namespace {

class FileMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("kapitsa_map_" + std::to_string(getpid()));
  }
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::filesystem::path path_;
};

TEST_F(FileMapTest, MapsAndSurvivesDrop) {
  write(std::string(100000, 'x'));
  auto map = FileMap::open(path_.string());
  ASSERT_TRUE(map.ok());
  ASSERT_EQ((*map)->bytes().size(), 100000u);
  (*map)->will_need((*map)->bytes());
  (*map)->drop((*map)->bytes());
  EXPECT_EQ(static_cast<char>((*map)->bytes()[99999]), 'x');
}

using FileMapDeathTest = FileMapTest;

TEST_F(FileMapDeathTest, AFileThatShrinksEndsWithASentence) {
  write(std::string(100000, 'x'));
  const auto map = FileMap::open(path_.string());
  ASSERT_TRUE(map.ok());
  std::filesystem::resize_file(path_, 1000);
  const volatile std::byte* bytes = (*map)->bytes().data();
  EXPECT_EXIT((void)bytes[90000], ::testing::ExitedWithCode(1), "the file became shorter");
}

TEST_F(FileMapTest, SaysWhatIsWrong) {
  EXPECT_EQ(FileMap::open("/no/such/file").status().code(), Code::kNotFound);
  EXPECT_EQ(FileMap::open("/").status().code(), Code::kInvalid);
  write("");
  EXPECT_EQ(FileMap::open(path_.string()).status().code(), Code::kInvalid);
}

TEST_F(FileMapTest, ReadFileHasALimit) {
  write("hello");
  EXPECT_EQ(*read_file(path_.string()), "hello");
  EXPECT_EQ(read_file(path_.string(), 4).status().code(), Code::kInvalid);
  EXPECT_EQ(read_file("/").status().code(), Code::kInvalid);
}

}  // namespace
}  // namespace kapitsa

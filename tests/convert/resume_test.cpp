// A conversion that does not come to its end.
#include "tests/convert/support.h"

namespace kapitsa::convert {
namespace {

namespace fs = std::filesystem;

struct Stopped : ::testing::Test {
  TemporaryFolder folder;
  const std::string from = golden("qwen3_moe");
  const std::string out = folder.file("out.gguf");

  Result<Report> stop_after(int blocks, const std::string& type = "Q4_K_M") {
    int left = blocks;
    const auto checkpoint = open(from);
    return write_gguf(checkpoint, out, {.plan = plan(type)}, {.threads = 1, .stopped = [&] { return --left <= 0; }});
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), {})); }
};

TEST_F(Stopped, GoesOnToTheSameBytes) {
  const std::string whole = folder.file("whole.gguf");
  const auto tensors = convert(from, whole, "Q4_K_M").tensors.size();
  const std::string want = bytes_of(whole);
  fs::remove(whole);
  for (const int blocks : {1, 5, 17}) {
    const auto report = stop_after(blocks);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.status().code(), Code::kCancelled);
    EXPECT_FALSE(fs::exists(out));
    EXPECT_TRUE(fs::exists(out + ".partial"));
    const Report rest = convert(from, out, "Q4_K_M");
    EXPECT_GT(rest.resumed, 0u);
    EXPECT_LT(rest.resumed, tensors);
    EXPECT_EQ(bytes_of(out), want);
    fs::remove(out);
    EXPECT_EQ(files(), 0u);  // neither the partial file nor its journal
  }
}

// What was written before is of no use to another type, other overrides or a changed input.
TEST_F(Stopped, AnotherConversionBeginsAnew) {
  ASSERT_FALSE(stop_after(9).ok());
  EXPECT_EQ(convert(from, out, "Q5_K_M").resumed, 0u);
  const std::string want = bytes_of(out);
  fs::remove(out);
  convert(from, out, "Q5_K_M");
  EXPECT_EQ(bytes_of(out), want);
}

TEST_F(Stopped, AJournalThatIsCutOrForeignDoesNoHarm) {
  convert(from, out, "Q4_K_M");
  const std::string want = bytes_of(out);
  for (const char* tail : {"1", "x\n", "99999999\n", "\n\n"}) {
    fs::remove(out);
    ASSERT_FALSE(stop_after(9).ok());
    std::ofstream(out + ".partial.journal", std::ios::binary | std::ios::app) << tail;
    convert(from, out, "Q4_K_M");
    EXPECT_EQ(bytes_of(out), want) << tail;
  }
}

TEST_F(Stopped, ADryRunWritesNothing) {
  const auto checkpoint = open(from);
  const auto report = write_gguf(checkpoint, out, {.plan = plan("Q4_K_M"), .dry = true}, {});
  ASSERT_TRUE(report.ok()) << report.message();
  EXPECT_EQ(files(), 0u);
  const uint64_t bytes = report->bytes;
  EXPECT_EQ(bytes, convert(from, out, "Q4_K_M").bytes);
  EXPECT_EQ(bytes, fs::file_size(out));
}

// Blocks of any thread, the same bytes.
TEST_F(Stopped, BytesDoNotDependOnThreads) {
  convert(from, out, "NVFP4", {.threads = 1});
  const std::string want = bytes_of(out);
  convert(from, out, "NVFP4", {.threads = 5});
  EXPECT_EQ(bytes_of(out), want);
}

}  // namespace
}  // namespace kapitsa::convert

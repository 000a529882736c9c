// What cannot be converted, said in one sentence.
#include "tests/convert/support.h"

namespace kapitsa::convert {
namespace {

void refused(const Result<Report>& report, Code code, std::string_view part) {
  ASSERT_FALSE(report.ok()) << part;
  EXPECT_EQ(report.status().code(), code) << report.message();
  EXPECT_NE(report.message().find(part), std::string::npos) << report.message();
  EXPECT_EQ(report.message().find('\n'), std::string::npos) << report.message();
}

TEST(Errors, TheInputIsNotOverwritten) {
  TemporaryFolder folder;
  const std::string path = folder.file("a.gguf");
  convert(golden("llama"), path, "F16");
  const std::string before = bytes_of(path);
  const auto checkpoint = open(path);
  refused(write_gguf(checkpoint, path, {.plan = plan("Q8_0")}, {}), Code::kInvalid, "is the input");
  EXPECT_EQ(bytes_of(path), before);
}

TEST(Errors, APlaceThatCannotBeWritten) {
  TemporaryFolder folder;
  const auto checkpoint = open(golden("llama"));
  refused(write_gguf(checkpoint, folder.file("nowhere/a.gguf"), {.plan = plan("Q8_0")}, {}), Code::kUnavailable, "nowhere/a.gguf.partial");
  refused(write_gguf(checkpoint, folder.path(), {.plan = plan("Q8_0")}, {}), Code::kInvalid, "is not a regular file");
}

TEST(Errors, AMissingTensorIsNamed) {
  TemporaryFolder folder;
  for (const char* name : {"config.json", "model.safetensors"}) {
    std::filesystem::copy(golden("llama") + "/" + name, folder.file(name));
  }
  std::string bytes = bytes_of(folder.file("model.safetensors"));
  const std::string name = "layers.1.mlp.down_proj.weight";
  const size_t at = bytes.find(name);
  ASSERT_NE(at, std::string::npos);
  bytes[at + name.size() - 1] = 'x';
  folder.write("model.safetensors", bytes);
  const auto checkpoint = open(folder.path());
  refused(write_gguf(checkpoint, folder.file("out.gguf"), {.plan = plan("Q8_0")}, {}), Code::kNotFound, name);
  EXPECT_FALSE(std::filesystem::exists(folder.file("out.gguf.partial")));
}

}  // namespace
}  // namespace kapitsa::convert

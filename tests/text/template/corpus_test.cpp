#include "tests/text/template/corpus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace kapitsa::text {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = KAPITSA_SOURCE_DIR;
const fs::path kHere = kSource / "tests/text/template";

}  // namespace

std::vector<fs::path> template_paths() {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(kSource / "fixtures/llama.cpp/models/templates", ignored)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Json& conversations() {
  static const Json all = Json::parse(read_text(kHere / "conversations.json"));
  return all;
}

TemplateInput input_of(const Json& conversation) {
  TemplateInput input;
  input.messages = conversation.at("messages");
  input.tools = conversation.value("tools", Json());
  input.variables = conversation.at("variables");
  input.add_generation_prompt = conversation.value("add_generation_prompt", true);
  return input;
}

Json reference(const std::vector<fs::path>& paths) {
  const fs::path out = fs::temp_directory_path() / fmt::format("kapitsa-templates-{}.json", getpid());
  std::string command = fmt::format("'{}' '{}' '{}'", (kSource / "fixtures/venv/bin/python").string(),
                                    (kHere / "reference.py").string(),
                                    (kHere / "conversations.json").string());
  for (const fs::path& path : paths) command += fmt::format(" '{}'", path.string());
  command += fmt::format(" > '{}'", out.string());
  const bool ran = std::system(command.c_str()) == 0;
  const std::string text = read_text(out);
  fs::remove(out);
  return ran ? Json::parse(text, nullptr, /*allow_exceptions=*/false) : Json();
}

}  // namespace kapitsa::text

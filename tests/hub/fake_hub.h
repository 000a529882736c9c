// Starts fake_hub.py for a test, with its own folders for repositories and cache.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "base/file_map.h"
#include "base/json.h"
#include "hub/environment.h"
#include "hub/pull.h"

namespace kapitsa::hub {

inline constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

// A folder of its own, deleted at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kapitsa-hub-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void write_text(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// `size` bytes that no compression or repetition makes look like others.
inline std::string noise(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class FakeHub : public ::testing::Test {
 protected:
  void SetUp() override {
    int in[2];
    int out[2];
    ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
    server_ = fork();
    if (server_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      const std::string script = std::string(KAPITSA_SOURCE_DIR) + "/tests/hub/fake_hub.py";
      execlp("python3", "python3", script.c_str(), folder_.path().c_str(), nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    keep_alive_ = in[1];
    std::FILE* ports = fdopen(out[0], "r");
    ASSERT_EQ(std::fscanf(ports, "%d %d", &port_, &store_port_), 2)
        << "python3 did not start fake_hub.py";
    std::fclose(ports);
    env_.endpoint = "http://127.0.0.1:" + std::to_string(port_);
    env_.cache = folder_ / "cache";
    env_.timeout_s = 5;
    options_.download.retry.backoff = std::chrono::milliseconds(2);
    options_.download.piece = 256 << 10;
    options_.download.journal_every = 32 << 10;
  }

  void TearDown() override {
    close(keep_alive_);
    waitpid(server_, nullptr, 0);
  }

  std::string add_file(const std::string& repo, const std::string& name, const std::string& bytes) {
    write_text(folder_ / ("repos/" + repo + "/" + name), bytes);
    return bytes;
  }
  void set_faults(const std::string& json) {
    write_text(folder_ / "faults.new", json);
    std::filesystem::rename(folder_ / "faults.new", folder_ / "faults.json");
  }
  // Every request so far.
  std::vector<Json> requests() {
    std::vector<Json> lines;
    std::istringstream text(read_text(folder_ / "requests.log"));
    for (std::string line; std::getline(text, line);) lines.push_back(*parse_json(line, "log"));
    return lines;
  }
  size_t count_requests(bool store) {
    size_t count = 0;
    for (const Json& line : requests()) count += line["store"] == store;
    return count;
  }
  Result<Pulled> pull_file(const std::string& repo, const std::string& part) {
    return pull({repo, "main", part, {}}, env_, options_, nullptr);
  }
  std::string snapshot_file(const std::string& repo_folder, const std::string& name) {
    return env_.cache + "/" + repo_folder + "/snapshots/" + kCommit + "/" + name;
  }

  TempFolder folder_;
  Environment env_;
  PullOptions options_;
  pid_t server_ = -1;
  int keep_alive_ = -1;
  int port_ = 0;
  int store_port_ = 0;
};

}  // namespace kapitsa::hub

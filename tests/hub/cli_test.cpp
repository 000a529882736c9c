// The commands as processes: kills, two at a time, limits, and what a user sees.
#include <csignal>

#include "hub/pull.h"
#include "tests/hub/fake_hub.h"

namespace kapitsa::hub {
namespace {

namespace fs = std::filesystem;

class CliTest : public FakeHub {
 protected:
  void SetUp() override {
    FakeHub::SetUp();
    bytes_ = add_file("org/model-GGUF", "model-Q8_0.gguf", noise(6'000'000, 1));
    write_text(folder_ / "config/kapitsa/models.json",
               R"({"models": [{"aliases": ["tiny"], "title": "Tiny",
      "architecture": "llama", "variants": [{"name": "q8_0", "repo": "org/model-GGUF", "format": "gguf"}]}]})");
  }
  // Starts `shell` with $CLI being the program; its output goes to <folder>/<name>.out and .err.
  pid_t start(const std::string& shell, const std::string& name) {
    const pid_t child = fork();
    if (child != 0) return child;
    setenv("CLI", KAPITSA_HUB_CLI, 1);
    setenv("HF_ENDPOINT", env_.endpoint.c_str(), 1);
    setenv("HF_HUB_CACHE", env_.cache.c_str(), 1);
    setenv("HOME", folder_.path().c_str(), 1);
    setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    for (const char* variable : {"HF_TOKEN", "HF_HOME", "HF_HUB_OFFLINE", "HF_TOKEN_PATH"})
      unsetenv(variable);
    if (std::freopen("/dev/null", "r", stdin) == nullptr ||
        std::freopen((folder_ / (name + ".out")).c_str(), "w", stdout) == nullptr ||
        std::freopen((folder_ / (name + ".err")).c_str(), "w", stderr) == nullptr) {
      _exit(126);
    }
    execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
    _exit(127);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int run(const std::string& shell) { return wait_for(start(shell, "run")); }
  std::string out(const std::string& name = "run") { return read_text(folder_ / (name + ".out")); }
  std::string err(const std::string& name = "run") { return read_text(folder_ / (name + ".err")); }
  std::string pulled_path() { return snapshot_file("models--org--model-GGUF", "model-Q8_0.gguf"); }
  // The journal of the download under way, or empty.
  std::string journal_file() {
    std::error_code code;
    for (fs::directory_iterator at(env_.cache + "/models--org--model-GGUF/blobs", code), end;
         !code && at != end; at.increment(code)) {
      if (at->path().string().ends_with(".journal")) return at->path();
    }
    return "";
  }

  std::string bytes_;
};

TEST_F(CliTest, PullPrintsThePathAndListAndRmSeeIt) {
  ASSERT_EQ(run("exec $CLI pull tiny"), 0) << err();
  EXPECT_EQ(out(), pulled_path() + "\n");
  EXPECT_NE(err().find("downloaded and verified"), std::string::npos) << err();
  EXPECT_TRUE(read_text(pulled_path()) == bytes_);

  ASSERT_EQ(run("exec $CLI list --json"), 0) << err();
  const auto json = parse_json(out(), "list");
  ASSERT_TRUE(json.ok());
  size_t tiny = 0;
  for (const Json& model : (*json)["models"]) {
    if (model["name"] == "tiny") {
      ++tiny;
      EXPECT_EQ(model["path"], pulled_path());
      EXPECT_EQ(model["runs_in_this_build"], true);
      EXPECT_EQ(model["verified"], false);
    } else if (model["name"] == "flint") {
      EXPECT_TRUE(model["path"].is_null());
      EXPECT_EQ(model["runs_in_this_build"], false);
    }
  }
  EXPECT_EQ(tiny, 1u);
  ASSERT_EQ(run("exec $CLI list"), 0);
  EXPECT_NE(out().find("not verified"), std::string::npos);
  EXPECT_NE(out().find("not yet (int4 safetensors)"), std::string::npos);

  EXPECT_EQ(run("exec $CLI rm tiny"), 1);
  EXPECT_NE(err().find("--yes"), std::string::npos) << err();
  EXPECT_TRUE(fs::exists(pulled_path()));
  ASSERT_EQ(run("exec $CLI rm --yes tiny"), 0) << err();
  EXPECT_EQ(out(), "tiny: freed 6.00 MB\n");
  EXPECT_FALSE(fs::exists(env_.cache + "/models--org--model-GGUF"));
  EXPECT_EQ(run("exec $CLI rm --yes tiny"), 1);
  EXPECT_NE(err().find("not downloaded"), std::string::npos);
}

TEST_F(CliTest, AKilledPullGoesOnWhereItWas) {
  set_faults(R"({"slow": 0.004})");
  const pid_t child = start("exec $CLI pull org/model-GGUF", "killed");
  // Kill it once the journal notes its first bytes: those must not be fetched again.
  while (journal_file().empty() || fs::file_size(journal_file()) < 90) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  wait_for(child);
  ASSERT_FALSE(fs::exists(pulled_path()));
  set_faults("{}");
  const size_t before = requests().size();
  ASSERT_EQ(run("exec $CLI pull org/model-GGUF"), 0) << err();
  EXPECT_TRUE(read_text(pulled_path()) == bytes_);
  EXPECT_EQ(journal_file(), "");
  const auto all = requests();
  bool from_middle = false;
  for (size_t i = before; i < all.size(); ++i) {
    if (all[i]["store"] != true) continue;
    ASSERT_TRUE(all[i]["range"].is_string()) << "the whole file was fetched again";
    EXPECT_NE(all[i]["range"].get<std::string>().substr(0, 8), "bytes=0-");
    from_middle = true;
  }
  EXPECT_TRUE(from_middle);
}

TEST_F(CliTest, TwoPullsAtATimeFetchOnce) {
  set_faults(R"({"slow": 0.001})");
  const pid_t first = start("exec $CLI pull org/model-GGUF", "first");
  const pid_t second = start("exec $CLI pull org/model-GGUF", "second");
  EXPECT_EQ(wait_for(first), 0) << err("first");
  EXPECT_EQ(wait_for(second), 0) << err("second");
  EXPECT_TRUE(read_text(pulled_path()) == bytes_);
  EXPECT_EQ(count_requests(true), 1u);  // 6 MB are one piece
}

TEST_F(CliTest, AFullDiskIsSaidAndWhatCameIsKept) {
  // The limit is in blocks of 512 bytes; the signal that comes with it is ignored, as a full disk
  // has none.
  EXPECT_EQ(run("trap '' XFSZ; ulimit -f 9000; exec $CLI pull org/model-GGUF"), 1);
  EXPECT_NE(err().find("file size limit reached"), std::string::npos) << err();
  EXPECT_FALSE(fs::exists(pulled_path()));
  ASSERT_EQ(run("exec $CLI pull org/model-GGUF"), 0) << err();
  EXPECT_TRUE(read_text(pulled_path()) == bytes_);
}

TEST_F(CliTest, WrongNamesAreExplained) {
  EXPECT_EQ(run("exec $CLI pull smollm"), 1);
  EXPECT_NE(err().find("did you mean 'smollm2'?"), std::string::npos) << err();
  EXPECT_EQ(run("exec $CLI pull ../../etc/passwd"), 1);
  EXPECT_NE(err().find("not a hub id"), std::string::npos) << err();
  EXPECT_NE(run("exec $CLI pull"), 0);
  write_text(folder_ / "config/kapitsa/models.json", "{");
  EXPECT_EQ(run("exec $CLI list"), 1);
  EXPECT_NE(err().find("config/kapitsa/models.json"), std::string::npos) << err();
}

class DemoTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    // `run` belongs to the whole program; here it only shows what it was asked.
    write_text(
        folder_ / "binary",
        "#!/bin/sh\nif [ \"$1\" = run ]; then echo \"run $2\"; else exec \"$CLI\" \"$@\"; fi\n");
    fs::permissions(folder_ / "binary", fs::perms::owner_all);
  }
  int demo(const std::string& settings) {
    return run("unset XDG_CACHE_HOME; " + settings + " exec " + KAPITSA_SOURCE_DIR +
               "/scripts/demo " + (folder_ / "binary"));
  }
};

TEST_F(DemoTest, TakesTheModelFromTheHubOnce) {
  add_file("unsloth/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct-Q8_0.gguf", noise(5000, 3));
  ASSERT_EQ(demo(""), 0) << err();
  EXPECT_EQ(out(), "run smollm2\n");
  const size_t before = requests().size();
  ASSERT_EQ(demo(""), 0) << err();
  EXPECT_EQ(out(), "run smollm2\n");
  EXPECT_EQ(requests().size(), before);
}

TEST_F(DemoTest, SaysWhatToDoWhereTheModelCannotBeHad) {
  EXPECT_EQ(demo("HF_ENDPOINT=http://127.0.0.1:1 PIP_NO_INDEX=1 PIP_FIND_LINKS="), 1);
  EXPECT_EQ(out(), "");
  EXPECT_NE(err().find("connect to the network, or run"), std::string::npos) << err();
  write_text(folder_ / ".cache/kapitsa/smollm2.gguf", "GGUF");
  EXPECT_EQ(demo("HF_ENDPOINT=http://127.0.0.1:1"), 0) << err();
  EXPECT_EQ(out(), "run " + (folder_ / ".cache/kapitsa/smollm2.gguf") + "\n");
}

}  // namespace
}  // namespace kapitsa::hub

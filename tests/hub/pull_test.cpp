#include "hub/pull.h"

#include "hub/hf_cache.h"
#include "hub/partial_file.h"
#include "tests/hub/fake_hub.h"

namespace kapitsa::hub {
namespace {

namespace fs = std::filesystem;
constexpr char kRepo[] = "org/model-GGUF";
constexpr char kFolder[] = "models--org--model-GGUF";

class PullTest : public FakeHub {
 protected:
  void SetUp() override {
    FakeHub::SetUp();
    bytes_ = add_file(kRepo, "model-Q8_0.gguf", noise(1'500'001, 1));
  }
  std::string got() { return read_text(snapshot_file(kFolder, "model-Q8_0.gguf")); }
  // What a failed pull said; empty if it did not fail.
  Status failure(const std::string& part = "Q8_0") { return pull_file(kRepo, part).status(); }
  // The blob's path for the whole file.
  std::string blob() {
    for (const auto& entry : fs::directory_iterator(env_.cache + "/" + kFolder + "/blobs")) {
      if (entry.path().string().find(".kapitsa.") == std::string::npos) return entry.path();
    }
    return "";
  }

  std::string bytes_;
};

TEST_F(PullTest, GetsAFileInRangesAndLaysTheCacheOut) {
  const auto pulled = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_EQ(pulled->downloaded, bytes_.size());
  EXPECT_TRUE(got() == bytes_);
  EXPECT_EQ(read_text(env_.cache + "/" + kFolder + "/refs/main"), kCommit);
  const fs::path link = fs::read_symlink(snapshot_file(kFolder, "model-Q8_0.gguf"));
  EXPECT_EQ(link.parent_path(), "../../blobs");
  EXPECT_EQ(link.filename().string().size(), 64u);
  EXPECT_GT(count_requests(true), 4u);  // in parallel ranges
  for (const auto& entry : fs::directory_iterator(env_.cache + "/" + kFolder + "/blobs")) {
    EXPECT_EQ(entry.path().string().find(".kapitsa."), std::string::npos) << entry.path();
  }
}

TEST_F(PullTest, ASecondPullFetchesNothing) {
  ASSERT_TRUE(pull_file(kRepo, "Q8_0").ok());
  const size_t before = count_requests(true);
  const auto again = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->downloaded, 0u);
  EXPECT_EQ(count_requests(true), before);
}

TEST_F(PullTest, TheTokenNeverLeavesTheHub) {
  env_.token = "hf_secret";
  ASSERT_TRUE(pull_file(kRepo, "Q8_0").ok());
  size_t with_token = 0;
  for (const Json& line : requests()) {
    if (line["store"] == true) {
      EXPECT_TRUE(line["auth"].is_null()) << line.dump();
    } else {
      EXPECT_EQ(line["auth"], "Bearer hf_secret");
      ++with_token;
    }
  }
  EXPECT_GE(with_token, 3u);
  EXPECT_GE(count_requests(true), 1u);
}

TEST_F(PullTest, FollowsARenamedRepository) {
  set_faults(R"({"rename": true})");
  ASSERT_TRUE(pull_file(kRepo, "Q8_0").ok());
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, SurvivesCutsInMidFile) {
  set_faults(R"({"cut_after": 100000, "cuts": 12})");
  const auto pulled = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, GivesUpWhenNothingComesAndKeepsWhatCame) {
  options_.download.connections = 1;
  set_faults(R"({"slow": 0.005})");
  std::atomic<bool> cancel{false};
  options_.download.retry.cancel = &cancel;
  const auto stopped =
      pull({kRepo, "main", "Q8_0", {}}, env_, options_, [&](const PullProgress& now) {
        if (now.done > 400'000) cancel = true;
      });
  EXPECT_EQ(stopped.status().code(), Code::kCancelled);
  options_.download.retry.cancel = nullptr;

  set_faults(R"({"cut_after": 0})");
  const Status status = failure();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find("are kept; run this again to go on"), std::string::npos)
      << status.message();

  set_faults("{}");
  const auto pulled = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_LT(pulled->downloaded, bytes_.size() - 300'000);
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, AWrongChecksumNeverBecomesABlob) {
  set_faults(R"({"corrupt": true})");
  const Status status = failure();
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_NE(status.message().find("SHA-256"), std::string::npos) << status.message();
  EXPECT_EQ(blob(), "");
  EXPECT_FALSE(fs::exists(snapshot_file(kFolder, "model-Q8_0.gguf")));
  EXPECT_FALSE(fs::exists(env_.cache + "/" + kFolder + "/refs/main"));
  set_faults("{}");
  ASSERT_TRUE(pull_file(kRepo, "Q8_0").ok());
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, ABrokenRestOfAnEarlierRunIsFetchedAnew) {
  std::atomic<bool> cancel{false};
  options_.download.retry.cancel = &cancel;
  (void)pull({kRepo, "main", "Q8_0", {}}, env_, options_, [&](const PullProgress& now) {
    if (now.done > 300'000) cancel = true;
  });
  options_.download.retry.cancel = nullptr;
  // What a crash of the machine can leave: the journal says bytes are there, and they are zeros.
  bool found = false;
  for (const auto& entry : fs::directory_iterator(env_.cache + "/" + kFolder + "/blobs")) {
    if (!entry.path().string().ends_with(".kapitsa.incomplete")) continue;
    found = true;
    write_text(entry.path(), std::string(fs::file_size(entry.path()), '\0'));
  }
  ASSERT_TRUE(found);
  const auto pulled = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, WorksWhereRangesAreIgnored) {
  set_faults(R"({"no_ranges": true, "cut_after": 700000, "cuts": 2})");
  const auto pulled = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, AsksForANewAddressWhenASignedOneRunsOut) {
  set_faults(R"({"store_requests_a_link": 2})");
  const auto pulled = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_TRUE(got() == bytes_);
}

TEST_F(PullTest, RetriesBusyServers) {
  for (const char* where : {"api", "resolve", "store"}) {
    for (const int code : {429, 500, 503}) {
      SCOPED_TRACE(fmt::format("{} {}", where, code));
      fs::remove_all(env_.cache);
      set_faults(fmt::format(
          R"({{"status": {{"where": "{}", "code": {}, "times": 2, "retry_after": "0"}}}})", where,
          code));
      const auto pulled = pull_file(kRepo, "Q8_0");
      ASSERT_TRUE(pulled.ok()) << pulled.message();
      EXPECT_TRUE(got() == bytes_);
    }
  }
}

TEST_F(PullTest, SaysWhatToDoAboutEachRefusal) {
  const auto says = [&](const std::string& faults, Code code, const std::string& text) {
    SCOPED_TRACE(faults);
    set_faults(faults);
    const Status status = failure();
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  };
  says(R"({"status": {"where": "api", "code": 403, "error": "GatedRepo"}})", Code::kInvalid,
       "set HF_TOKEN to a token");
  says(R"({"status": {"where": "resolve", "code": 403, "error": "GatedRepo"}})", Code::kInvalid,
       "accept its terms");
  says(R"({"status": {"where": "api", "code": 401, "error": "RepoNotFound"}})", Code::kNotFound,
       "not found, or private");
  says(R"({"status": {"where": "api", "code": 404}})", Code::kNotFound, "not found");
  says(R"({"status": {"where": "api", "code": 404, "error": "RevisionNotFound"}})", Code::kNotFound,
       "revision");
  says(R"({"status": {"where": "api", "code": 429, "retry_after": "0"}})", Code::kUnavailable,
       "slow down");
  says(R"({"status": {"where": "api", "code": 500}})", Code::kUnavailable, "500");
  says("{}", Code::kOk, "");
  EXPECT_EQ(pull_file("org/none", "").status().code(), Code::kNotFound);
  const Status missing = failure("Q2_K");
  EXPECT_NE(missing.message().find("there are: Q8_0"), std::string::npos) << missing.message();
}

TEST_F(PullTest, LiesAboutSizesAreFound) {
  const auto fails = [&](const std::string& faults, const std::string& text) {
    SCOPED_TRACE(faults);
    fs::remove_all(env_.cache);
    set_faults(faults);
    const Status status = failure();
    EXPECT_EQ(status.code(), Code::kCorrupt);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
    EXPECT_FALSE(fs::exists(snapshot_file(kFolder, "model-Q8_0.gguf")));
  };
  fails(R"({"list_size_delta": 5})", "1500006");
  fails(R"({"head_size_delta": -5})", "1499996");
  fails(R"({"bare_list": true, "head_size_delta": 5})", "1500006");
  fails(R"({"bare_list": true, "head_size_delta": -5})", "1499996");
  fails(R"({"range_total_delta": 7})", "1500008");
  fails(R"({"no_ranges": true, "short_store": 1000})", "1499001");
  fails(R"({"surplus": 100})", "more than");
  fails(R"({"no_ranges": true, "surplus": 100})", "more than");
  fails(R"({"commit": "1123456789abcdef0123456789abcdef01234567"})", "commit");
  fails(R"({"commit": "../../evil"})", "X-Repo-Commit");
  fails(R"({"bare_list": true, "etag": "../../../evil"})", "ETag");
}

TEST_F(PullTest, HostileNamesAreRefused) {
  for (const char* name :
       {"../evil.gguf", "/etc/evil.gguf", "a/../../evil.gguf", "a\\\\b.gguf", "", "a//b"}) {
    set_faults(fmt::format(R"({{"extra_files": ["{}"]}})", name));
    EXPECT_EQ(failure().code(), Code::kCorrupt) << name;
  }
  for (const char* repo :
       {"../x", "a/b/c", "a", "a/..", "../..", "a/b--c", "a/-b", "a/b?c", "a/b#c", "", "/", "a/"}) {
    EXPECT_EQ(pull_file(repo, "").status().code(), Code::kInvalid) << repo;
  }
  EXPECT_EQ(pull({kRepo, "../main", "", {}}, env_, options_, nullptr).status().code(),
            Code::kInvalid);
  EXPECT_FALSE(fs::exists(env_.cache));
}

TEST_F(PullTest, AFileAddressIsNotFollowed) {
  set_faults(R"({"redirect_to": "file:///etc/passwd"})");
  EXPECT_FALSE(failure().ok());
  set_faults(R"({"redirect_to": "ftp://127.0.0.1/x"})");
  EXPECT_FALSE(failure().ok());
}

TEST_F(PullTest, TheDiskIsLookedAtBeforeTheFirstByte) {
  options_.free_space = [](const std::string&) -> Result<uint64_t> { return uint64_t{1'000'000}; };
  const Status status = failure();
  EXPECT_EQ(status.code(), Code::kExhausted);
  EXPECT_NE(status.message().find("1.50 MB"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("1.00 MB"), std::string::npos) << status.message();
  EXPECT_EQ(count_requests(true), 0u);
}

TEST_F(PullTest, TheCataloguesChecksumCounts) {
  const CatalogueFile wrong{"model-Q8_0.gguf", std::nullopt, std::string(64, 'a')};
  const auto listed = pull({kRepo, "main", "", {wrong}}, env_, options_, nullptr);
  EXPECT_EQ(listed.status().code(), Code::kCorrupt);
  EXPECT_EQ(count_requests(true), 0u);
  set_faults(R"({"bare_list": true})");
  EXPECT_EQ(pull({kRepo, "main", "", {wrong}}, env_, options_, nullptr).status().code(),
            Code::kCorrupt);
  EXPECT_EQ(blob(), "");
}

TEST_F(PullTest, OfflineAndUnreachableSaySo) {
  env_.offline = true;
  EXPECT_NE(failure().message().find("HF_HUB_OFFLINE"), std::string::npos);
  env_.offline = false;
  env_.endpoint = "http://127.0.0.1:1";
  EXPECT_NE(failure().message().find("cannot connect"), std::string::npos) << failure().message();
  env_.endpoint = "mirror.example";
  EXPECT_NE(failure().message().find("HF_ENDPOINT: 'mirror.example' is not a URL"),
            std::string::npos)
      << failure().message();
  env_.endpoint = "http://no-such-host.invalid";
  EXPECT_NE(failure().message().find("no such host"), std::string::npos) << failure().message();
}

TEST_F(PullTest, AFolderOfSafetensorsComesWhole) {
  add_file("org/folder", "config.json", R"({"model_type": "llama"})");
  add_file("org/folder", "tokenizer.json", std::string(5000, '{'));
  add_file("org/folder", "model.safetensors", noise(70'000, 2));
  add_file("org/folder", "onnx/model.onnx", noise(2'000, 3));
  add_file("org/folder", "README.md", "hello");
  add_file("org/folder", "empty.txt", "");
  const auto pulled = pull_file("org/folder", "");
  ASSERT_TRUE(pulled.ok()) << pulled.message();
  EXPECT_EQ(pulled->files,
            (std::vector<std::string>{"config.json", "model.safetensors", "tokenizer.json"}));
  EXPECT_EQ(read_text(snapshot_file("models--org--folder", "config.json")),
            R"({"model_type": "llama"})");
  // Small files are named, and checked, by git's object id.
  EXPECT_EQ(fs::read_symlink(snapshot_file("models--org--folder", "config.json"))
                .filename()
                .string()
                .size(),
            40u);
  EXPECT_TRUE(pull_file("org/folder", "empty.txt").ok());
}

TEST_F(PullTest, ASmallFileThatChangedOnTheWayIsRefused) {
  add_file("org/folder", "config.json", R"({"model_type": "llama"})");
  set_faults(R"({"corrupt": true})");
  const Status status = pull_file("org/folder", "config.json").status();
  EXPECT_EQ(status.code(), Code::kCorrupt);
  EXPECT_NE(status.message().find("git object id"), std::string::npos) << status.message();
}

TEST_F(PullTest, ABlobOfAnotherToolIsUsed) {
  ASSERT_TRUE(pull_file(kRepo, "Q8_0").ok());
  fs::remove_all(env_.cache + "/" + kFolder + "/snapshots");
  const size_t before = count_requests(true);
  const auto again = pull_file(kRepo, "Q8_0");
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(again->downloaded, 0u);
  EXPECT_EQ(count_requests(true), before);
  EXPECT_TRUE(got() == bytes_);
}

}  // namespace
}  // namespace kapitsa::hub

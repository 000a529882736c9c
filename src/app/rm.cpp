#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include "app/command.h"
#include "app/terminal.h"
#include "base/say.h"
#include "hub/hf_cache.h"
#include "hub/human_bytes.h"
#include "hub/resolve.h"
#include "hub/select.h"

namespace kapitsa::app {
namespace {

// One repository's files to remove; all of them where `files` is empty.
struct Part {
  std::string repo;
  std::vector<std::string> files;
};

// The files here, in any snapshot, that `request` stands for.
std::vector<std::string> matching(const hub::PullRequest& request, const hub::HfCache& cache) {
  std::set<std::string> found;
  for (const std::string& commit : cache.snapshots(request.repo)) {
    const std::vector<std::string> here = cache.files_of(request.repo, commit);
    if (request.files.empty()) {
      auto selected = hub::select_files(here, request.part, request.repo);
      if (selected.ok()) found.insert(selected->begin(), selected->end());
    }
    for (const hub::CatalogueFile& file : request.files) {
      if (std::find(here.begin(), here.end(), file.name) != here.end()) found.insert(file.name);
    }
  }
  return {found.begin(), found.end()};
}

// "flint" is every variant of it that is here, "flint:q4" that one; "org/name" is the whole
// repository.
std::vector<Part> parts_of(const std::string& model, const hub::Target& target,
                           const hub::HfCache& cache) {
  std::vector<Part> parts;
  const auto add = [&](const hub::PullRequest& request) {
    if (auto files = matching(request, cache); !files.empty())
      parts.push_back({request.repo, std::move(files)});
  };
  if (target.variant == nullptr) {
    std::error_code code;
    if (!target.request.part.empty()) {
      add(target.request);
    } else if (std::filesystem::is_directory(cache.repo_folder(target.request.repo), code)) {
      parts.push_back({target.request.repo, {}});
    }
  } else if (model.find(':') != model.npos) {
    add(target.request);
  } else {
    for (const hub::Variant& variant : target.entry->variants) {
      add({variant.repo, variant.revision, variant.part, variant.files});
    }
  }
  return parts;
}

int remove_model(const std::string& model, bool yes) {
  const hub::Environment env = hub::read_environment();
  const hub::HfCache cache(env.cache);
  const auto catalogue = hub::Catalogue::load(env.user_catalogue);
  if (!catalogue.ok()) return fail(catalogue.status());
  const auto target = hub::target_of(model, *catalogue);
  if (!target.ok()) return fail(target.status());
  const std::vector<Part> parts = parts_of(model, *target, cache);
  if (parts.empty()) {
    return fail(
        error(Code::kNotFound, "{}: not downloaded; nothing to remove in {}", model, env.cache));
  }
  for (const Part& part : parts) {
    say("{}: {}\n", part.repo,
               part.files.empty() ? "everything" : fmt::format("{}", fmt::join(part.files, ", ")));
  }
  if (!yes) {
    if (isatty(STDIN_FILENO) == 0) {
      return fail(error(Code::kInvalid,
                        "nobody is here to ask; say --yes to remove {} without a question", model));
    }
    say("Remove from {}? [y/N] ", env.cache);
    std::string answer;
    std::getline(std::cin, answer);
    if (answer != "y" && answer != "Y" && answer != "yes") {
      say("Nothing removed.\n");
      return 1;
    }
  }
  uint64_t bytes = 0;
  for (const Part& part : parts) {
    const auto removed = cache.remove(part.repo, part.files);
    if (!removed.ok()) return fail(removed.status());
    bytes += removed->bytes;
  }
  fmt::print("{}: freed {}\n", model, hub::human_bytes(bytes));
  return 0;
}

}  // namespace

void add_rm(CLI::App& root, Run& run) {
  struct Options {
    std::string model;
    bool yes = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand("rm", "Remove a downloaded model from this disk");
  command->add_option("model", options->model, "Alias, alias:VARIANT, org/name or org/name:FILE")
      ->required();
  command->add_flag("--yes,-y", options->yes, "Do not ask");
  command->callback(
      [options, &run] { run = [options] { return remove_model(options->model, options->yes); }; });
}

}  // namespace kapitsa::app

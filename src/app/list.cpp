#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "app/runs_here.h"
#include "app/command.h"
#include "app/terminal.h"
#include "base/machine.h"
#include "base/say.h"
#include "hub/hf_cache.h"
#include "hub/human_bytes.h"
#include "hub/resolve.h"
#include "hub/select.h"

namespace kapitsa::app {
namespace {

struct Row {
  std::string name;
  const hub::Entry* entry = nullptr;
  const hub::Variant* variant = nullptr;
  std::optional<uint64_t> size;
  bool estimated = false;
  std::string path;  // empty: not downloaded
  hub::Fit fit = hub::Fit::kUnknown;
};

Row row_of(const hub::Entry& entry, const hub::Variant& variant, const hub::Environment& env,
           uint64_t physical) {
  Row row;
  row.entry = &entry;
  row.variant = &variant;
  row.name = &variant == &entry.variants.front() ? entry.name() : entry.name() + ":" + variant.name;
  row.size = hub::file_bytes(entry, variant, &row.estimated);
  row.fit = hub::fits(hub::memory_needed(entry, variant), physical);
  hub::Target target{
      {variant.repo, variant.revision, variant.part, variant.files}, &entry, &variant};
  if (auto local = hub::find_local(target, env); local.ok()) row.path = local->path;
  return row;
}

Json json_of(const Row& row) {
  Json json;
  const hub::Entry& entry = *row.entry;
  json["name"] = row.name;
  json["aliases"] = entry.aliases;
  json["title"] = entry.title;
  json["architecture"] = entry.architecture;
  json["repo"] = row.variant->repo;
  json["variant"] = row.variant->name;
  json["size"] = row.size ? Json(*row.size) : Json();
  json["size_estimated"] = row.estimated;
  json["context"] = entry.context ? Json(*entry.context) : Json();
  const auto memory = hub::memory_needed(entry, *row.variant);
  json["memory"] = memory ? Json(*memory) : Json();
  json["licence"] = entry.licence.empty() ? Json() : Json(entry.licence);
  json["sampling"] = entry.sampling;
  json["path"] = row.path.empty() ? Json() : Json(row.path);
  json["fits"] = hub::name(row.fit);
  json["runs_in_this_build"] = missing_for(entry, *row.variant).empty();
  json["verified"] = entry.verified;
  return json;
}

// Repositories with a model that no catalogue row stands for: other tools' downloads, plain hub
// ids.
std::vector<std::string> other_repos(const hub::Catalogue& catalogue, const hub::Environment& env) {
  std::vector<std::string> others;
  for (const std::string& repo : hub::HfCache(env.cache).repos()) {
    if (catalogue.find_repo(repo) != nullptr) continue;
    hub::Target target;
    target.request.repo = repo;
    if (hub::find_local(target, env).ok()) others.push_back(repo);
  }
  return others;
}

void print_table(const std::vector<Row>& rows, const std::vector<std::string>& others,
                 uint64_t physical) {
  std::vector<std::vector<std::string>> lines = {
      {"MODEL", "TITLE", "SIZE", "DOWNLOADED", "FITS", "RUNS HERE", "CHECKED"}};
  for (const Row& row : rows) {
    const std::string missing = missing_for(*row.entry, *row.variant);
    lines.push_back(
        {row.name, row.entry->title,
         row.size ? (row.estimated ? "~" : "") + hub::human_bytes(*row.size) : "?",
         row.path.empty() ? "-" : "yes", std::string(hub::name(row.fit)),
         missing.empty() ? "yes" : "not yet (" + missing + ")",
         row.entry->verified ? "verified" : "not verified"});
  }
  std::vector<size_t> widths(lines.front().size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      text += i + 1 == line.size() ? line[i] : fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    fmt::print("{}\n", text);
  }
  if (!others.empty()) fmt::print("\nAlso downloaded, by their hub id:\n");
  for (const std::string& repo : others) fmt::print("  {}\n", repo);
  fmt::print(
      "\nFITS compares what a model needs with this machine's {}; ~ is estimated from its "
      "weights.\n"
      "Other sizes of a model: kapitsa list --all. Get one: kapitsa pull MODEL.\n",
      hub::human_bytes(physical));
}

struct Options {
  bool all = false;
  bool downloaded = false;
  bool json = false;
  bool names = false;
};

int list_models(const Options& options) {
  const hub::Environment env = hub::read_environment();
  const auto catalogue = hub::Catalogue::load(env.user_catalogue);
  if (!catalogue.ok()) {
    return fail(catalogue.status());
  }
  const uint64_t physical = memory_limit();
  std::vector<Row> rows;
  for (const hub::Entry& entry : catalogue->entries()) {
    for (const hub::Variant& variant : entry.variants) {
      Row row = row_of(entry, variant, env, physical);
      const bool first = &variant == &entry.variants.front();
      // What is on the disk is always shown, whichever variant it is.
      if (!row.path.empty() || (!options.downloaded && (first || options.all)))
        rows.push_back(std::move(row));
    }
  }
  const std::vector<std::string> others = other_repos(*catalogue, env);
  if (options.names) {
    for (const Row& row : rows) fmt::print("{}\n", row.name);
    for (const std::string& repo : others) fmt::print("{}\n", repo);
    return 0;
  }
  if (!options.json) {
    print_table(rows, others, physical);
    return 0;
  }
  Json json;
  json["memory"] = physical;
  json["cache"] = env.cache;
  json["models"] = Json::array();
  for (const Row& row : rows) json["models"].push_back(json_of(row));
  json["others"] = others;
  fmt::print("{}\n", json.dump(2));
  return 0;
}

}  // namespace

void add_list(CLI::App& root, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      root.add_subcommand("list", "Show the catalogue: sizes, what is downloaded, what fits");
  command->add_flag("--all,-a", options->all, "Every variant (quantisation) of each model");
  command->add_flag("--downloaded,-d", options->downloaded, "Only what is on this disk");
  command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--names", options->names,
                    "Only the names, one a line, for scripts and completion");
  command->callback([options, &run] { run = [options] { return list_models(*options); }; });
}

}  // namespace kapitsa::app

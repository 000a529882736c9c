#include <fmt/format.h>

#include <memory>

#include "app/runs_here.h"
#include "app/command.h"
#include "app/terminal.h"
#include "base/machine.h"
#include "base/say.h"
#include "hub/human_bytes.h"
#include "hub/progress.h"
#include "hub/resolve.h"

namespace kapitsa::app {
namespace {

// What the user should know before gigabytes are fetched.
void warn(const hub::Target& target) {
  if (target.entry == nullptr) return;
  const hub::Entry& entry = *target.entry;
  if (target.variant == nullptr) return;
  if (const std::string missing = missing_for(entry, *target.variant); !missing.empty()) {
    say("kapitsa: note: this build cannot run {} yet ({})\n", entry.title, missing);
  }
  const auto needed = hub::memory_needed(entry, *target.variant);
  const uint64_t physical = memory_limit();
  if (hub::fits(needed, physical) == hub::Fit::kNo) {
    say("kapitsa: note: it needs about {} of memory, this machine has {}\n",
               hub::human_bytes(*needed), hub::human_bytes(physical));
  }
}

int pull_model(const std::string& model) {
  const hub::Environment env = hub::read_environment();
  const auto catalogue = hub::Catalogue::load(env.user_catalogue);
  if (!catalogue.ok()) return fail(catalogue.status());
  const auto target = hub::target_of(model, *catalogue);
  if (!target.ok()) return fail(target.status());
  warn(*target);
  hub::ProgressBar bar(model);
  const auto pulled =
      hub::pull(target->request, env, {}, [&](const hub::PullProgress& now) { bar.show(now); });
  bar.finish();
  if (!pulled.ok()) return fail(pulled.status());
  say("{}: {} in {} file{} {}\n", model, hub::human_bytes(pulled->bytes),
             pulled->files.size(), pulled->files.size() == 1 ? "" : "s",
             pulled->downloaded == 0 ? "was already here" : "downloaded and verified");
  // The path alone goes to stdout, for scripts.
  const auto local = hub::find_local(*target, env);
  fmt::print("{}\n", local.ok() ? local->path : pulled->folder);
  return 0;
}

}  // namespace

void add_pull(CLI::App& root, Run& run) {
  auto model = std::make_shared<std::string>();
  CLI::App* command = root.add_subcommand("pull", "Download a model, or go on with a download");
  command
      ->add_option("model", *model,
                   "Alias (see `list`), org/name, org/name:QUANTISATION or org/name:FILE")
      ->required();
  command->footer(
      "Files go to the Hugging Face cache (HF_HOME, HF_HUB_CACHE); HF_TOKEN opens restricted "
      "models,\n"
      "HF_ENDPOINT names a mirror, HF_HUB_OFFLINE=1 forbids the network.");
  command->callback([model, &run] { run = [model] { return pull_model(*model); }; });
}

}  // namespace kapitsa::app

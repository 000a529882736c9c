#include "app/open_model.h"

#include "app/load_progress.h"
#include "app/sampling_options.h"
#include "engine/load.h"
#include "hub/progress.h"

namespace kapitsa::app {

Result<hub::ModelFiles> find_model(const std::string& model, hub::Download download,
                                   const Globals& globals) {
  hub::ProgressBar bar(model);
  const auto show = [&](const hub::PullProgress& now) {
    if (!globals.quiet) bar.show(now);
  };
  return hub::resolve(model, download, hub::read_environment(), {}, show);
}

Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& model,
                                                    const EngineOptions& options,
                                                    const Globals& globals) {
  KAPITSA_ASSIGN(const hub::ModelFiles files,
                 find_model(model, hub::Download::kIfMissing, globals));
  LoadProgress progress("loading " + files.name, !globals.quiet);
  engine::LoadOptions load;
  load.path = files.path;
  load.id = files.name;
  load.context = options.context;
  load.max_batch = options.max_batch;
  load.backend.threads = options.threads;
  load.memory = options.memory;
  if (files.entry) load.sampling = sampling_from_json(files.entry->sampling);
  load.progress = [&](double share) { progress.update(share); };
  return engine::load(load);
}

}  // namespace kapitsa::app

#include "model/model.h"

#include <algorithm>

#include "base/log.h"
#include "model/architecture.h"
#include "weights/printable.h"

namespace kapitsa::model {
namespace {

const Architecture* find(const weights::Checkpoint& checkpoint) {
  const std::string name = declared_architecture(checkpoint);
  for (const Architecture* a : architectures()) {
    const auto& names = checkpoint.container == weights::Container::gguf ? a->gguf : a->hugging_face;
    if (std::find(names.begin(), names.end(), name) != names.end()) return a;
  }
  return nullptr;
}

}  // namespace

std::string declared_architecture(const weights::Checkpoint& checkpoint) {
  if (checkpoint.container == weights::Container::gguf) {
    const std::string* name = checkpoint.metadata.string("general.architecture");
    return name ? *name : "";
  }
  const Json& config = checkpoint.config;
  if (!config.is_object()) return "";
  const auto it = config.find("model_type");
  return it != config.end() && it->is_string() ? it->get<std::string>() : "";
}

bool runs_architecture(const weights::Checkpoint& checkpoint) { return find(checkpoint) != nullptr; }

Status check_architecture(const weights::Checkpoint& checkpoint) {
  if (runs_architecture(checkpoint)) return {};
  if (declared_architecture(checkpoint).empty()) {
    return error(Code::kCorrupt, "{}: {} does not name the model's architecture as a text", checkpoint.path,
                 checkpoint.container == weights::Container::gguf ? "general.architecture" : "config.json's model_type");
  }
  std::string known;
  for (const Architecture* a : architectures()) known += fmt::format("{}{}", known.empty() ? "" : ", ", a->name);
  return error(Code::kUnsupported, "{}: this build cannot run the architecture \"{}\"; it runs: {}", checkpoint.path,
               weights::printable(declared_architecture(checkpoint)), known);
}

Result<const Architecture*> find_architecture(const weights::Checkpoint& checkpoint) {
  KAPITSA_RETURN_IF_ERROR(check_architecture(checkpoint));
  return find(checkpoint);
}

Status load_family(const Architecture& family, Loader& loader, Transformer& m) {
  m.config.architecture = family.name;
  family.load(loader, m);
  KAPITSA_RETURN_IF_ERROR(loader.status());
  const auto unused = loader.unused();
  if (unused.empty()) return {};
  return error(Code::kUnsupported, "{}: {} tensor{} that {} does not have, {} for one: running without {} would give wrong answers",
               loader.checkpoint().path, unused.size(), unused.size() == 1 ? "" : "s", family.name, unused[0],
               unused.size() == 1 ? "it" : "them");
}

Result<std::unique_ptr<Model>> Model::load(std::shared_ptr<const weights::Checkpoint> checkpoint, backend::Backend& backend,
                                            const std::function<void(double)>& progress) {
  KAPITSA_ASSIGN(const Architecture* architecture, find_architecture(*checkpoint));
  auto model = std::make_unique<Model>();
  model->checkpoint_ = std::move(checkpoint);
  Loader loader(*model->checkpoint_, backend, progress);
  KAPITSA_RETURN_IF_ERROR(load_family(*architecture, loader, model->transformer_));
  model->weight_bytes_ = loader.resident_bytes();
  architecture->forward(model->transformer_, model->graph_);
  return model;
}

}  // namespace kapitsa::model

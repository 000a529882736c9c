// A model ready to run: its family found, its weights packed, its graph written.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.h"
#include "model/transformer.h"
#include "weights/checkpoint.h"

namespace kapitsa::model {

class Model {
 public:
  // `progress` (may be null) hears the share of the file's bytes that was packed so far.
  // Errors: kUnsupported (a family that this build does not know: its name and those it knows), kCorrupt (a tensor or a
  // number that is missing or contradicts another), kExhausted.
  static Result<std::unique_ptr<Model>> load(std::shared_ptr<const weights::Checkpoint> checkpoint, backend::Backend& backend,
                                             const std::function<void(double)>& progress = nullptr);

  const Config& config() const { return transformer_.config; }
  const backend::Graph& graph() const { return graph_; }
  const weights::Checkpoint& checkpoint() const { return *checkpoint_; }
  // Bytes of packed weights.
  size_t weight_bytes() const { return weight_bytes_; }

 private:
  std::shared_ptr<const weights::Checkpoint> checkpoint_;  // weights may lie in its mapping
  Transformer transformer_;
  backend::Graph graph_;
  size_t weight_bytes_ = 0;
};

// The family's name as the files give it: config.json's model_type, or general.architecture. Empty where they do not say.
std::string declared_architecture(const weights::Checkpoint& checkpoint);
// Whether this build runs it.
bool runs_architecture(const weights::Checkpoint& checkpoint);
// Ok where it does; else kUnsupported, with the family's name and those that this build knows.
Status check_architecture(const weights::Checkpoint& checkpoint);

}  // namespace kapitsa::model

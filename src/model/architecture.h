// What a family of models brings: the names by which files know it, how its weights are found, its forward pass.
#pragma once

#include <string_view>
#include <vector>

#include "backend/graph.h"
#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

struct Architecture {
  std::string_view name;
  std::vector<std::string_view> hugging_face;  // config.json's model_type
  std::vector<std::string_view> gguf;          // general.architecture
  // Reads numbers and weights; faults are kept in the loader.
  void (*load)(Loader& loader, Transformer& model);
  // Writes the forward pass into `graph`.
  void (*forward)(const Transformer& model, backend::Graph& graph);
};

// All families of this build.
std::vector<const Architecture*> architectures();
// The checkpoint's family, or check_architecture()'s error (model.h).
Result<const Architecture*> find_architecture(const weights::Checkpoint& checkpoint);
// Runs the family's load and reports its faults; tensors that nobody asked for are one.
Status load_family(const Architecture& family, Loader& loader, Transformer& model);

}  // namespace kapitsa::model

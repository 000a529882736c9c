// What a model's files say of it, read without decoding a weight: also for families that this build
// cannot run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/graph.h"
#include "base/json.h"
#include "weights/checkpoint.h"

namespace kapitsa::app {

// Tensors that do one kind of work.
struct TensorClass {
  std::string name;  // "attention", "mlp", "embedding", "head", "norms", "other"
  int tensors = 0;
  int64_t parameters = 0;
  uint64_t bytes = 0;
  std::map<std::string, uint64_t> formats;  // bytes of each storage format

  double bits() const {
    return parameters > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(parameters) : 0;
  }
};

struct ModelFacts {
  std::string architecture;  // as the files name it; empty where they do not
  std::string title;         // what the files call the model; may be empty
  bool runs = false;
  std::optional<int64_t> layers, hidden, heads, kv_heads, head_dim, intermediate, vocabulary,
      context;
  std::vector<TensorClass> classes;
  TensorClass all;
  size_t unread = 0;        // tensors in a type that this build does not read
  std::string unread_type;  // of one of them
  uint64_t file_bytes = 0;

  std::optional<int64_t> experts, experts_used;
  // The forward pass in outline; nothing where this build cannot run the model, and then `fault` says why.
  std::optional<backend::Graph> graph;
  std::string fault;

  // With a graph only. Keys, values and states of one conversation of `tokens`.
  uint64_t cache_bytes(int64_t tokens) const;
  // Activations of the largest prompt chunk, roughly.
  uint64_t scratch_bytes() const;
  // All that such a conversation takes.
  uint64_t memory(int64_t tokens) const;
};

// All but the graph.
ModelFacts read_facts(const weights::Checkpoint& checkpoint);
// The graph, or why there is none: looks at every tensor that the family has.
void read_outline(const weights::Checkpoint& checkpoint, ModelFacts& facts);

// Which class a tensor of that name belongs to, in the names of Hugging Face and of GGUF.
std::string_view tensor_class(std::string_view tensor);

}  // namespace kapitsa::app

// From a model's files to a running engine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "engine/engine.h"
#include "weights/checkpoint.h"

namespace kapitsa::engine {

struct LoadOptions {
  std::string path;                  // a GGUF file or a Hugging Face folder
  std::string id;                    // what clients call it; empty: from the path
  int context = 0;                   // tokens; 0: the model's own, or as much of it as memory holds
  int max_batch = backend::kMaxDecodeRows;  // requests decoded together
  size_t memory = 0;                 // bytes that weights and cache may take together; 0: what the machine has
  backend::Options backend;          // name, threads, compute
  backend::KvType kv = backend::KvType::kF16;
  std::optional<Sampling> sampling;  // what the catalogue recommends, where the files say nothing
  std::function<void(double)> progress;  // share of the weights packed so far
};

// Errors: kUnsupported, kCorrupt, kNotFound, kExhausted (with what is needed and what there is).
Result<std::unique_ptr<Engine>> load(const LoadOptions& options);

// The tokenizer that a checkpoint carries, alone. Errors: kNotFound (no tokenizer.json), kCorrupt, kUnsupported.
Result<std::unique_ptr<text::Tokenizer>> load_tokenizer(const weights::Checkpoint& checkpoint);

// What is sampled with where neither files nor catalogue nor request say anything.
inline constexpr auto kDefaultTemperature = 0.7f;
inline constexpr auto kDefaultTopP = 0.95f;

// What the model's own files recommend (generation_config.json, general.sampling.*), over the defaults above; nothing where
// they do not speak of sampling at all. do_sample: false means greedy.
std::optional<Sampling> recommended_sampling(const weights::Checkpoint& checkpoint);
Sampling default_sampling();

}  // namespace kapitsa::engine

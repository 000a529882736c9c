// The memory budget of an engine: how many pages and states beside the weights, before anything of it is allocated.
#pragma once

#include <string>

#include "backend/backend.h"

namespace kapitsa::engine {

// What is left for everything but weights and cache.
inline constexpr size_t kReserve = size_t{512} << 20;

struct PlanInput {
  std::string path;         // for errors
  size_t memory = 0;        // what the machine gives
  size_t weights = 0;
  int own_context = 0;      // the model's
  int asked_context = 0;    // 0: the model's own, cut to what memory holds
  int max_batch = 1;        // sequences at a time, at most
  int chunk = 1;            // tokens that a sequence grows by in a step, at most
  backend::KvType kv = backend::KvType::kF16;
};

struct Plan {
  int context = 0;
  backend::CacheShape cache;
};

// The whole context for one sequence, and for as many beside it as half of the rest holds. Pages take memory only once
// they are used. Error: kExhausted, with the numbers.
Result<Plan> plan_cache(const backend::Graph& graph, const PlanInput& in);

// Bytes of keys, values and states that one sequence of `tokens` takes, growing by up to `chunk` tokens a step.
size_t sequence_bytes(const backend::Graph& graph, backend::KvType kv, int64_t tokens, int chunk);

// A cache for exactly `sequences` of up to `tokens` each, whatever the machine has: for tools and tests.
backend::CacheShape shape_for(const backend::Graph& graph, backend::KvType kv, int tokens, int sequences);

}  // namespace kapitsa::engine

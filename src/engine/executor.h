// Runs a model over sequences of the KV cache: keeps the recorded steps, one a row bucket, and lays batches out for them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "engine/kv/sequence.h"
#include "model/model.h"

namespace kapitsa::engine {

// New tokens of one sequence, in a batch.
struct Span {
  Sequence* sequence;
  std::span<const int32_t> tokens;
  int outputs;  // the last so many rows give logits: 0, 1 or all
};

class Executor {
 public:
  struct Options {
    backend::CacheShape cache;
    int max_outputs = backend::kMaxDecodeRows;  // output rows of a prefill step
    bool taps = false;
  };
  static Result<std::unique_ptr<Executor>> make(backend::Backend& backend, const model::Model& model, const Options& options);

  // One step over all spans' tokens (their sum decides the bucket); each sequence grows by its tokens. Errors: kExhausted
  // (no page or state free: nothing was computed), kCancelled (sequences keep their old length; those of a model with
  // recurrent state are emptied, since half a step cannot be taken back).
  Status run(std::span<const Span> spans, const std::atomic<bool>* cancelled = nullptr);

  // Records the steps for up to `rows`, so that no memory is asked for while requests run.
  Status prepare(int rows);

  // Of the last run: the logits of output row i, counted over all spans in order.
  std::span<const float> logits(int row) const { return backend_.logits(*last_, row); }
  std::span<const float> tap(int index, int row) const { return backend_.tap(*last_, index, row); }

  // Makes `copy` go on from where `sequence` is: full pages are shared, its last page and its state copied. Error:
  // kExhausted, and `copy` is empty.
  Status fork(const Sequence& sequence, Sequence& copy);

  Pools& pools() { return pools_; }
  backend::Cache& cache() { return *cache_; }

 private:
  Executor(backend::Backend& backend, const model::Model& model, const Options& options)
      : backend_(backend), model_(model), options_(options), pools_(model.graph(), options.cache) {}
  Result<backend::Step*> step_for(int rows);
  Status reserve(std::span<const Span> spans);

  backend::Backend& backend_;
  const model::Model& model_;
  Options options_;
  Pools pools_;
  std::unique_ptr<backend::Cache> cache_;
  std::map<int, std::unique_ptr<backend::Step>> steps_;
  backend::Step* last_ = nullptr;
  // The batch, kept between steps so that their memory is.
  std::vector<int32_t> tokens_, positions_, sequences_, subtree_end_, committed_, page_table_, states_, output_rows_;
};

}  // namespace kapitsa::engine

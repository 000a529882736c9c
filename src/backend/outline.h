// A backend that packs nothing: with it a model is read as numbers and shapes, so that memory is known before a weight is
// touched, for any file that fits on a disk.
#pragma once

#include "backend/backend.h"

namespace kapitsa::backend {

class Outline : public Backend {
 public:
  std::string_view name() const override { return "outline"; }
  Limits limits() const override { return {"nothing", 0}; }
  // Weights of the right shape and size, with nothing behind them.
  Result<WeightRef> pack(const Stored& stored, Use use) override;
  Result<WeightRef> pack_stack(std::span<const Stored> experts) override;
  Result<WeightRef> vector(std::span<const float> values) override;
  // What would compute is kUnsupported.
  Result<std::unique_ptr<Cache>> make_cache(const Graph& graph, const CacheShape& shape) override;
  Result<std::unique_ptr<Step>> record(const Graph& graph, Cache& cache, const StepShape& shape) override;
  Status run(Step& step, const Batch& batch, const std::atomic<bool>* cancelled) override;
  std::span<const float> logits(const Step&, int) const override { return {}; }
  std::span<const float> tap(const Step&, int, int) const override { return {}; }
};

}  // namespace kapitsa::backend

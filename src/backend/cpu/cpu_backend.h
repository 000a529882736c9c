// The CPU backend: packs weights into panels, records graphs into steps, runs them on a team of threads.
#pragma once

#include "backend/backend.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/memory.h"
#include "backend/cpu/step.h"
#include "base/thread_team.h"

namespace kapitsa::cpu {

class CpuBackend : public backend::Backend {
 public:
  // `kernels` null: the best set for this machine.
  explicit CpuBackend(const backend::Options& options, const Kernels* kernels = nullptr);

  std::string_view name() const override { return "cpu"; }
  backend::Limits limits() const override;
  Result<backend::WeightRef> pack(const backend::Stored& stored, backend::Use use) override;
  Result<backend::WeightRef> pack_stack(std::span<const backend::Stored> experts) override;
  Result<backend::WeightRef> vector(std::span<const float> values) override;
  Result<std::unique_ptr<backend::Cache>> make_cache(const backend::Graph& graph, const backend::CacheShape& shape) override;
  Result<std::unique_ptr<backend::Step>> record(const backend::Graph& graph, backend::Cache& cache,
                                                const backend::StepShape& shape) override;
  Status run(backend::Step& step, const backend::Batch& batch, const std::atomic<bool>* cancelled) override;
  std::span<const float> logits(const backend::Step& step, int row) const override;
  std::span<const float> tap(const backend::Step& step, int index, int row) const override;

 private:
  const Kernels& kernels_;
  backend::Compute compute_;
  ThreadTeam team_;
  Memory scratch_;  // shared by all steps: one runs at a time
  Cuts cuts_;  // of the run
};

}  // namespace kapitsa::cpu

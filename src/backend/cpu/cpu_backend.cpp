#include "backend/cpu/cpu_backend.h"

#include <cmath>
#include <cstring>

#include "backend/cpu/pack/cpu_weight.h"
#include "backend/cpu/step.h"
#include "base/machine.h"

namespace kapitsa::cpu {
namespace {

using namespace backend;

void fill_rope(const Rope& rope, int32_t position, float* cos, float* sin) {
  for (size_t i = 0; i < rope.inverse_frequency.size(); ++i) {
    const double angle = position * rope.inverse_frequency[i];
    cos[i] = static_cast<float>(std::cos(angle) * rope.magnitude);
    sin[i] = static_cast<float>(std::sin(angle) * rope.magnitude);
  }
}

// Copies what was tapped after `ops_done` ops.
void keep_taps(const Run& run, size_t ops_done, int member) {
  if (!run.step.shape.taps) return;
  const auto& taps = run.step.graph.taps();
  for (size_t t = 0; t < taps.size(); ++t) {
    if (taps[t].after_op != ops_done) continue;
    const auto width = static_cast<size_t>(taps[t].value.width);
    auto* out = reinterpret_cast<float*>(run.scratch + run.step.tap_offset[t]);
    for (int r = member; r < run.rows; r += run.team.size()) {
      std::memcpy(out + static_cast<size_t>(r) * width, run.row(taps[t].value, r), width * 4);
    }
  }
  run.team.barrier();
}

void run_member(const Run& run, int member, const std::atomic<bool>* cancelled, std::atomic<size_t>& stop_after) {
  for (size_t r = 0; r < run.step.ropes.size(); ++r) {
    const Rope& rope = *run.step.ropes[r];
    const size_t pairs = rope.inverse_frequency.size();
    auto* table = reinterpret_cast<float*>(run.scratch + run.step.rope_offset[r]);
    for (int row = member; row < run.rows; row += run.team.size()) {
      float* cos = table + static_cast<size_t>(row) * pairs * 2;
      fill_rope(rope, run.batch.positions[row], cos, cos + pairs);
    }
  }
  const auto& ops = run.step.graph.ops();
  for (size_t i = 0; i < ops.size(); ++i) {
    std::visit(
        [&](const auto& op) {
          using T = std::decay_t<decltype(op)>;
          if constexpr (std::is_same_v<T, EmbedOp>) embed(run, i, op, member);
          if constexpr (std::is_same_v<T, LinearOp>) linear(run, i, op, member);
          if constexpr (std::is_same_v<T, RopeKvOp>) rope_kv(run, i, op, member);
          if constexpr (std::is_same_v<T, AttentionOp>) attention(run, i, op, member);
          if constexpr (std::is_same_v<T, SelectRowsOp>) select_rows(run, i, op, member);
          if constexpr (std::is_same_v<T, NormOp>) norm(run, i, op, member);
          if constexpr (std::is_same_v<T, RouteOp>) route(run, i, op, member);
          if constexpr (std::is_same_v<T, ExpertsOp>) experts(run, i, op, member);
          if constexpr (std::is_same_v<T, CombineOp>) combine(run, i, op, member);
          if constexpr (std::is_same_v<T, ConvOp>) conv(run, i, op, member);
          if constexpr (std::is_same_v<T, DeltaOp>) delta(run, i, op, member);
          if constexpr (std::is_same_v<T, ScanOp>) scan(run, i, op, member);
          if constexpr (std::is_same_v<T, GatedNormOp>) gated_norm(run, i, op, member);
        },
        ops[i]);
    // All members must leave after the same op, or one waits at a barrier for ever: member 0 looks, and writes down after
    // which op it looked, since a slow member may read this while member 0 is at the next op already.
    if (member == 0 && cancelled && cancelled->load(std::memory_order_relaxed)) stop_after.store(i, std::memory_order_relaxed);
    run.team.barrier();
    if (stop_after.load(std::memory_order_relaxed) <= i) return;
    keep_taps(run, i + 1, member);
  }
}

}  // namespace

CpuBackend::CpuBackend(const Options& options, const Kernels* kernels)
    : kernels_(kernels ? *kernels : best_kernels()), compute_(options.compute), team_(options.threads) {}

Limits CpuBackend::limits() const {
  return {fmt::format("{}, {}, {} thread{}", cpu_name(), kernels_.name, team_.size(), team_.size() == 1 ? "" : "s"),
          memory_limit()};
}

Result<WeightRef> CpuBackend::pack(const Stored& stored, Use use) {
  auto layout = CpuWeight::layout_for(stored.format, stored.columns, use == Use::kExact ? Compute::kFloat32 : compute_);
  if (use == Use::kRows) layout = CpuWeight::Layout::kStored;
  KAPITSA_ASSIGN(auto weight, CpuWeight::pack(std::span(&stored, 1), layout, team_));
  return WeightRef(std::move(weight));
}

Result<WeightRef> CpuBackend::pack_stack(std::span<const Stored> experts) {
  if (experts.empty()) return error(Code::kInternal, "a stack of no experts");
  KAPITSA_ASSIGN(auto weight, CpuWeight::pack(experts, CpuWeight::layout_for(experts[0].format, experts[0].columns, compute_), team_));
  return WeightRef(std::move(weight));
}

Result<WeightRef> CpuBackend::vector(std::span<const float> values) {
  KAPITSA_ASSIGN(auto weight, CpuWeight::vector(values));
  return WeightRef(std::move(weight));
}

Result<std::unique_ptr<Cache>> CpuBackend::make_cache(const Graph& graph, const CacheShape& shape) {
  KAPITSA_ASSIGN(auto cache, CpuCache::make(graph, shape));
  return std::unique_ptr<Cache>(std::move(cache));
}

Result<std::unique_ptr<Step>> CpuBackend::record(const Graph& graph, Cache& cache, const StepShape& shape) {
  auto step = std::make_unique<CpuStep>(graph, static_cast<CpuCache&>(cache), shape, team_.size());
  if (step->bytes > scratch_.bytes()) {  // one step runs at a time
    KAPITSA_ASSIGN(scratch_, Memory::allocate(step->bytes, false));
  }
  return std::unique_ptr<Step>(std::move(step));
}

Status CpuBackend::run(Step& recorded, const Batch& batch, const std::atomic<bool>* cancelled) {
  auto& step = static_cast<CpuStep&>(recorded);
  const int rows = static_cast<int>(batch.tokens.size()), outputs = static_cast<int>(batch.output_rows.size());
  if (rows < 1 || rows > step.shape.rows || outputs > step.shape.outputs) {
    return error(Code::kInternal, "a batch of {} rows and {} outputs for a step of {} and {}", rows, outputs, step.shape.rows,
                 step.shape.outputs);
  }
  cuts_.cut(batch);
  Run run{kernels_, team_, step, batch, scratch_.data(), rows, outputs, cuts_};
  for (size_t i = 0; i < step.graph.ops().size(); ++i) step.claims[i].store(0, std::memory_order_relaxed);
  std::atomic<size_t> stop_after{SIZE_MAX};
  team_.run([&](int member) { run_member(run, member, cancelled, stop_after); });
  if (stop_after.load() != SIZE_MAX) return Status(Code::kCancelled, "cancelled");
  return {};
}

std::span<const float> CpuBackend::logits(const Step& recorded, int row) const {
  const auto& step = static_cast<const CpuStep&>(recorded);
  const Value v = step.graph.logits;
  const auto* base = reinterpret_cast<const float*>(scratch_.data() + step.value_offset[static_cast<size_t>(v.id)]);
  return {base + static_cast<size_t>(row) * static_cast<size_t>(v.width), static_cast<size_t>(v.width)};
}

std::span<const float> CpuBackend::tap(const Step& recorded, int index, int row) const {
  const auto& step = static_cast<const CpuStep&>(recorded);
  const auto width = static_cast<size_t>(step.graph.taps()[static_cast<size_t>(index)].value.width);
  const auto* base = reinterpret_cast<const float*>(scratch_.data() + step.tap_offset[static_cast<size_t>(index)]);
  return {base + static_cast<size_t>(row) * width, width};
}

}  // namespace kapitsa::cpu

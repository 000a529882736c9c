#include "backend/outline.h"

namespace kapitsa::backend {
namespace {

class Shape : public Weight {
 public:
  Shape(int64_t rows, int64_t columns, int experts, size_t bytes) : Weight(rows, columns, bytes) { experts_ = experts; }
};

Status nothing() { return Status(Code::kUnsupported, "an outline computes nothing"); }

}  // namespace

Result<WeightRef> Outline::pack(const Stored& stored, Use) {
  return WeightRef(std::make_shared<Shape>(stored.rows, stored.columns, 1, stored.stored_bytes()));
}

Result<WeightRef> Outline::pack_stack(std::span<const Stored> experts) {
  size_t bytes = 0;
  for (const Stored& one : experts) bytes += one.stored_bytes();
  return WeightRef(std::make_shared<Shape>(experts[0].rows, experts[0].columns, static_cast<int>(experts.size()), bytes));
}

Result<WeightRef> Outline::vector(std::span<const float> values) {
  return WeightRef(std::make_shared<Shape>(1, static_cast<int64_t>(values.size()), 1, values.size_bytes()));
}

Result<std::unique_ptr<Cache>> Outline::make_cache(const Graph&, const CacheShape&) { return nothing(); }
Result<std::unique_ptr<Step>> Outline::record(const Graph&, Cache&, const StepShape&) { return nothing(); }
Status Outline::run(Step&, const Batch&, const std::atomic<bool>*) { return nothing(); }

}  // namespace kapitsa::backend

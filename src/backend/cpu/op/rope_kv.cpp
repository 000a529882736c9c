#include <cstring>

#include "backend/cpu/step.h"

namespace kapitsa::cpu {
namespace {

// Rows of one head that a member works on together: neighbours share the cache lines of transposed keys.
constexpr int kRows = 64;

class Writer {
 public:
  Writer(const Run& run, const backend::RopeKvOp& op) : run_(run), op_(op) {}

  void key(int row, int head, const float* x) const {
    const auto [page, place] = slot(row);
    std::byte* out = run_.step.cache.keys(op_.layer, page, head);
    if (!run_.step.cache.half()) {
      for (int d = 0; d < op_.head_dim; ++d) reinterpret_cast<float*>(out)[d * backend::kPage + place] = x[d];
      return;
    }
    uint16_t half[kMaxHead];
    run_.kernels.to_half(x, op_.head_dim, half);
    for (int d = 0; d < op_.head_dim; ++d) reinterpret_cast<uint16_t*>(out)[d * backend::kPage + place] = half[d];
  }

  void value(int row, int head, const float* x) const {
    const auto [page, place] = slot(row);
    std::byte* out = run_.step.cache.values(op_.layer, page, head);
    if (!run_.step.cache.half()) {
      std::memcpy(out + static_cast<size_t>(place * op_.head_dim) * 4, x, static_cast<size_t>(op_.head_dim) * 4);
    } else {
      run_.kernels.to_half(x, op_.head_dim, reinterpret_cast<uint16_t*>(out) + place * op_.head_dim);
    }
  }

  static constexpr int kMaxHead = 1024;

 private:
  struct Slot { int page, place; };
  Slot slot(int row) const {
    const auto& b = run_.batch;
    const int s = b.slots[static_cast<size_t>(row)];
    return {run_.pages(op_.layer, b.sequences[static_cast<size_t>(row)])[s / backend::kPage], s % backend::kPage};
  }
  const Run& run_;
  const backend::RopeKvOp& op_;
};

}  // namespace

void rope_kv(const Run& run, size_t index, const backend::RopeKvOp& op, int /*member*/) {
  const int heads = op.heads + 2 * op.kv_heads;
  const int chunks = (run.rows + kRows - 1) / kRows;
  const int rope = run.step.rope_of_op[index];
  const size_t pairs = rope < 0 ? 0 : op.rope->inverse_frequency.size();
  const auto* table = rope < 0 ? nullptr : reinterpret_cast<const float*>(run.scratch + run.step.rope_offset[static_cast<size_t>(rope)]);
  const Writer writer(run, op);

  const auto prepare = [&](float* x, int row, const std::optional<backend::Norm>& norm) {
    if (norm) {
      run.kernels.rms_norm(x, static_cast<const CpuWeight&>(*norm->weight).floats(), norm->eps, op.head_dim, x);
    }
    if (table) {
      const float* cos = table + static_cast<size_t>(row) * pairs * 2;
      run.kernels.rotate(x, cos, cos + pairs, static_cast<int>(pairs), op.rope->pairs == backend::RopePairs::kNeighbours);
    }
  };
  // One row's heads are little work: a member takes several.
  const int64_t chunk = run.rows >= kRows ? 1 : 4;
  run.claim(index, int64_t{chunks} * heads, chunk, [&](int64_t unit) {
    const int head = static_cast<int>(unit % heads);
    const int begin = static_cast<int>(unit / heads) * kRows, end = std::min(begin + kRows, run.rows);
    for (int row = begin; row < end; ++row) {
      if (head < op.heads) {
        prepare(run.row(op.q, row) + head * op.q_stride, row, op.q_norm);
      } else if (head < op.heads + op.kv_heads) {
        const int h = head - op.heads;
        float* k = run.row(op.k, row) + h * op.head_dim;
        prepare(k, row, op.k_norm);
        writer.key(row, h, k);
      } else {
        const int h = head - op.heads - op.kv_heads;
        writer.value(row, h, run.row(op.v, row) + h * op.head_dim);
      }
    }
  });
}

}  // namespace kapitsa::cpu

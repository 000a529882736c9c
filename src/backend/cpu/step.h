// A recorded step of the CPU backend: where each activation lies, and what the ops of a run share.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/cache.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/pack/cpu_weight.h"
#include "base/thread_team.h"

namespace kapitsa::cpu {

class CpuStep : public backend::Step {
 public:
  CpuStep(const backend::Graph& graph, CpuCache& cache, const backend::StepShape& shape, int threads);

  int rows() const override { return shape.rows; }
  size_t scratch_bytes() const override { return bytes; }

  const backend::Graph& graph;
  CpuCache& cache;
  backend::StepShape shape;

  // Offsets into the backend's scratch, in bytes.
  std::vector<size_t> value_offset;   // by Value::id
  std::vector<bool> output_space;     // by Value::id: its rows are the output rows
  std::vector<size_t> tap_offset;
  std::vector<int> rope_of_op;        // by op: which of `ropes`, or -1
  std::vector<const backend::Rope*> ropes;
  std::vector<size_t> rope_offset;    // [rows][pairs] cos, then sin
  size_t shared_offset = 0;           // an op's rows, normed or gathered
  size_t quant_offset = 0;            // the same as QuantRows
  size_t answers_offset = 0;          // [rows * used][hidden]: what a combine op adds up
  size_t member_offset = 0, member_bytes = 0;  // private scratch a thread
  size_t bytes = 0;

  std::unique_ptr<std::atomic<int64_t>[]> claims;  // by op: the next unit of work
};

// Rows that attention works on together: neighbours of one sequence.
struct RowTile {
  int row, count;
  bool chain;  // slots are positions: pages are read as they lie
};

// Rows of one sequence, one behind the other.
struct SequenceRows {
  int sequence, row, count;
};

// How a batch's rows are cut for the ops that do not take them one by one.
struct Cuts {
  std::vector<RowTile> tiles;
  std::vector<SequenceRows> sequences;
  void cut(const backend::Batch& batch);
};

// One run of a step.
struct Run {
  const Kernels& kernels;
  ThreadTeam& team;
  CpuStep& step;
  const backend::Batch& batch;
  std::byte* scratch;
  int rows, outputs;
  const Cuts& cuts;

  // Row 0 of a value; rows are v.stride apart.
  float* value(backend::Value v) const {
    return reinterpret_cast<float*>(scratch + step.value_offset[static_cast<size_t>(v.id)]) + v.offset;
  }
  float* row(backend::Value v, int64_t r) const { return value(v) + r * v.stride; }
  // The page table's row of a sequence, for a layer of the KV cache.
  const int32_t* pages(int layer, int sequence) const {
    const auto sequences = static_cast<int>(batch.committed.size());
    const int group = step.graph.kv_group_of(layer);
    return batch.page_table.data() + (static_cast<size_t>(group) * static_cast<size_t>(sequences) + static_cast<size_t>(sequence)) *
                                         static_cast<size_t>(batch.pages_per_sequence);
  }
  // Rows that `v` has in this run.
  int rows_of(backend::Value v) const { return step.output_space[static_cast<size_t>(v.id)] ? outputs : rows; }
  std::byte* member_scratch(int member) const { return scratch + step.member_offset + static_cast<size_t>(member) * step.member_bytes; }
  // A sequence's recurrent state of a layer, from float `from` on.
  float* state(int layer, int sequence, int64_t from) const {
    return step.cache.state(layer, batch.states[static_cast<size_t>(sequence)]) + from;
  }
  // Whether a sequence begins with this step: its state is then what another one left, and counts as zero.
  bool begins(int sequence) const { return batch.committed[static_cast<size_t>(sequence)] == 0; }
  // The same for a head's own `count` floats, zeroed where it begins.
  float* head_state(int layer, int sequence, int head, int64_t count) const {
    float* out = state(layer, sequence, head * count);
    if (begins(sequence)) std::fill_n(out, count, 0.0f);
    return out;
  }
  // Takes up to `chunk` of `total` units of op `op`: calls body(unit) for each until none is left.
  template <class F>
  void claim(size_t op, int64_t total, int64_t chunk, F body) const {
    auto& next = step.claims[op];
    for (int64_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < total;) {
      for (int64_t u = begin; u < std::min(begin + chunk, total); ++u) body(u);
    }
  }
};

// Views of QuantRows in memory: [rows][columns rounded up to 32].
size_t quant_rows_bytes(int64_t rows, int64_t columns);
QuantRows quant_rows_at(std::byte* memory, int64_t rows, int64_t columns);

// The ops: every member of the team calls them for each op in turn, a barrier between ops.
void embed(const Run& run, size_t index, const backend::EmbedOp& op, int member);
void linear(const Run& run, size_t index, const backend::LinearOp& op, int member);
void rope_kv(const Run& run, size_t index, const backend::RopeKvOp& op, int member);
void attention(const Run& run, size_t index, const backend::AttentionOp& op, int member);
void select_rows(const Run& run, size_t index, const backend::SelectRowsOp& op, int member);
void norm(const Run& run, size_t index, const backend::NormOp& op, int member);
void route(const Run& run, size_t index, const backend::RouteOp& op, int member);
void experts(const Run& run, size_t index, const backend::ExpertsOp& op, int member);
void combine(const Run& run, size_t index, const backend::CombineOp& op, int member);
void conv(const Run& run, size_t index, const backend::ConvOp& op, int member);
void delta(const Run& run, size_t index, const backend::DeltaOp& op, int member);
void scan(const Run& run, size_t index, const backend::ScanOp& op, int member);
void gated_norm(const Run& run, size_t index, const backend::GatedNormOp& op, int member);

// Bytes of private scratch that a member needs for an op.
size_t linear_scratch_bytes(const backend::LinearOp& op, int rows);
size_t attention_scratch_bytes(const backend::AttentionOp& op);
size_t route_scratch_bytes(const backend::RouteOp& op);
size_t experts_scratch_bytes(const backend::ExpertsOp& op, int rows);
size_t combine_scratch_bytes(const backend::CombineOp& op, int rows);
size_t delta_scratch_bytes(const backend::DeltaOp& op);

}  // namespace kapitsa::cpu

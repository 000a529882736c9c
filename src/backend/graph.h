// A model's forward pass as a list of typed ops: built once, recorded by a backend once a row bucket.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/ops.h"

namespace kapitsa::backend {

// What a layer of the KV cache holds for a token.
struct KvLayer {
  int kv_heads = 0;
  int head_dim = 0;
  int window = 0;  // 0: all; else the newest so many positions are read, and pages behind them may be given away
};

// Layers whose pages come and go together: those of one window.
struct KvGroup {
  int window = 0;
  std::vector<int> layers;
};

class Graph {
 public:
  // Values are made by the op that writes them. Shapes are checked here: a mismatch is a programmer's error
  // (a loader has checked the files) and throws std::logic_error naming both numbers.
  Value embed(WeightRef table);
  // The columns [offset, offset + width) of `of`.
  Value view(Value of, int offset, int width) const;
  // One matrix.
  Value linear(Value in, WeightRef weight, WeightRef bias = nullptr);
  // Several matrices over one input, normed where there is a norm.
  std::vector<Value> linear(Value in, std::optional<Norm> norm, std::vector<LinearOp::Part> parts);
  // silu(gate) * up
  Value swiglu(Value in, std::optional<Norm> norm, WeightRef gate, WeightRef up);
  // max(up, 0)^2
  Value relu2(Value in, std::optional<Norm> norm, WeightRef up);
  // residual += sigmoid(gate) * (weight * in + bias), without a gate times 1
  void linear_add(Value residual, Value in, WeightRef weight, WeightRef bias = nullptr, Value gate = {});
  void rope_kv(RopeKvOp op);
  Value attention(AttentionOp op);  // op.out is made here
  Value norm(Value in, Norm norm);
  // From here on rows are the step's output rows.
  Value select_rows(Value in);
  // These make op.out.
  Value route(RouteOp op);
  Value experts(ExpertsOp op);
  Value combine(CombineOp op);  // where op.add: op.out is given
  Value conv(ConvOp op);
  Value delta(DeltaOp op);
  Value scan(ScanOp op);
  Value gated_norm(GatedNormOp op);

  // Marks the residual stream as it is now: `logits --hidden` reads it.
  void tap(Value residual) { taps_.push_back({residual, ops_.size()}); }

  int add_kv_layer(KvLayer layer);
  // A layer of recurrent state: so many floats a sequence, zero at its start.
  int add_state(int64_t floats);

  struct Tap {
    Value value;
    size_t after_op;  // its bits are those after this many ops
  };
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Tap>& taps() const { return taps_; }
  const std::vector<KvLayer>& kv_layers() const { return kv_layers_; }
  const std::vector<KvGroup>& kv_groups() const { return kv_groups_; }
  int kv_group_of(int layer) const { return group_of_layer_[static_cast<size_t>(layer)]; }
  const std::vector<int64_t>& states() const { return states_; }
  int value_count() const { return next_; }
  Value logits;  // set by the model: [output rows, vocabulary]

 private:
  Value make(int64_t width);
  // Takes `op` over, with a new value of that width as its `out`.
  template <class T>
  Value append(T& op, int64_t width);
  std::vector<Op> ops_;
  std::vector<Tap> taps_;
  std::vector<KvLayer> kv_layers_;
  std::vector<KvGroup> kv_groups_;
  std::vector<int> group_of_layer_;
  std::vector<int64_t> states_;
  int next_ = 0;
};

}  // namespace kapitsa::backend

// A model's forward pass as a list of typed ops: built once, recorded by a backend once a row bucket.
#pragma once

#include <string>
#include <vector>

#include "backend/ops.h"

namespace kapitsa::backend {

// What a layer of the KV cache holds for a token.
struct KvLayer {
  int kv_heads = 0;
  int head_dim = 0;
};

class Graph {
 public:
  // Values are made by the op that writes them. Shapes are checked here: a mismatch is a programmer's error
  // (a loader has checked the files) and throws std::logic_error naming both numbers.
  Value embed(WeightRef table);
  // One matrix.
  Value linear(Value in, WeightRef weight, WeightRef bias = nullptr);
  // Several matrices over one normed input.
  std::vector<Value> linear(Value in, Norm norm, std::vector<LinearOp::Part> parts);
  // silu(gate) * up
  Value swiglu(Value in, Norm norm, WeightRef gate, WeightRef up);
  // residual += weight * in + bias
  void linear_add(Value residual, Value in, WeightRef weight, WeightRef bias = nullptr);
  void rope_kv(RopeKvOp op);
  Value attention(AttentionOp op);  // op.out is made here
  Value norm(Value in, Norm norm);
  // From here on rows are the step's output rows.
  Value select_rows(Value in);
  // norm, then matrix: the head.
  Value linear_normed(Value in, Norm norm, WeightRef weight);

  // Marks the residual stream as it is now: `logits --hidden` reads it.
  void tap(Value residual) { taps_.push_back({residual, ops_.size()}); }

  int add_kv_layer(KvLayer layer);

  struct Tap {
    Value value;
    size_t after_op;  // its bits are those after this many ops
  };
  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Tap>& taps() const { return taps_; }
  const std::vector<KvLayer>& kv_layers() const { return kv_layers_; }
  int value_count() const { return next_; }
  Value logits;  // set by the model: [output rows, vocabulary]

 private:
  Value make(int64_t width);
  std::vector<Op> ops_;
  std::vector<Tap> taps_;
  std::vector<KvLayer> kv_layers_;
  int next_ = 0;
};

}  // namespace kapitsa::backend

// The typed ops that a model is written in, at the granularity of kernels: every backend has one kernel
// file an op, under the op's name. docs/decisions/0002-ops.md lists those to come and why they are cut so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace kapitsa::backend {

// A matrix or vector that a backend packed as it likes. Only its shape is known outside the backend.
class Weight {
 public:
  virtual ~Weight() = default;
  int64_t rows() const { return rows_; }        // outputs; 1 for a vector
  int64_t columns() const { return columns_; }  // inputs
  size_t bytes() const { return bytes_; }       // resident

 protected:
  Weight(int64_t rows, int64_t columns, size_t bytes) : rows_(rows), columns_(columns), bytes_(bytes) {}
  int64_t rows_, columns_;
  size_t bytes_;
};
using WeightRef = std::shared_ptr<const Weight>;

// An activation matrix [rows of the step, width] in float32, named by its place in the graph. The backend
// decides where it lives and for how long.
struct Value {
  int id = -1;
  int width = 0;
  bool valid() const { return id >= 0; }
};

// RMSNorm: x * weight / sqrt(mean(x^2) + eps)
struct Norm {
  WeightRef weight;
  float eps = 1e-6f;
};

// out[r] = table[tokens[r]]
struct EmbedOp {
  WeightRef table;
  Value out;
};

// One to four matrices over one input, which is normed first where `norm` is given. So q, k and v (or gate
// and up) read their input once.
struct LinearOp {
  enum class Epilogue {
    kStore,   // out_i = W_i x + b_i
    kAdd,     // out_0 += W_0 x + b_0: the residual stream
    kSwiGlu,  // out_0 = silu(W_0 x) * (W_1 x)
  };
  struct Part {
    WeightRef weight;
    WeightRef bias;  // or null
    Value out;
  };
  Value in;
  std::optional<Norm> norm;
  std::vector<Part> parts;
  Epilogue epilogue = Epilogue::kStore;
};

// How a rotary embedding pairs the channels of a head.
enum class RopePairs {
  kHalves,      // (i, i + n/2): Hugging Face and GGUF "neox"
  kNeighbours,  // (2i, 2i + 1): GGUF "norm", where the converter reordered q and k
};

struct Rope {
  // Angle of pair i at position p: p * inverse_frequency[i]. Twice its size is the number of rotated channels,
  // the head's first ones; the rest passes through.
  std::vector<double> inverse_frequency;
  float magnitude = 1.0f;  // factor on cos and sin (YaRN's attention factor)
  RopePairs pairs = RopePairs::kHalves;
};

// Which KV head a query head reads.
enum class HeadMap {
  kGrouped,  // h / (heads / kv_heads)
  kTiled,    // h % kv_heads
};

// Norms (where given) and rotates each head of q and k, q in place, and writes k and v into the KV cache at
// the step's slots.
struct RopeKvOp {
  Value q, k, v;
  int layer = 0;  // of the KV cache
  int heads = 0, kv_heads = 0, head_dim = 0;
  std::optional<Norm> q_norm, k_norm;  // over head_dim
  std::optional<Rope> rope;            // none: no position (NoPE)
};

// out = softmax(scale q K^T + mask) V over the cache, streaming, with an optional sink in the denominator.
struct AttentionOp {
  Value q, out;
  int layer = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 1.0f;
  int window = 0;   // 0: all; else position p sees p - window + 1 .. p
  WeightRef sinks;  // [heads] or null
  HeadMap map = HeadMap::kGrouped;
};

// out[i] = in[output_rows[i]]: what follows (final norm, head) runs on those rows only.
struct SelectRowsOp {
  Value in, out;
};

struct NormOp {
  Value in, out;
  Norm norm;
};

using Op = std::variant<EmbedOp, LinearOp, RopeKvOp, AttentionOp, SelectRowsOp, NormOp>;

}  // namespace kapitsa::backend

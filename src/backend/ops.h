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
  int64_t rows() const { return rows_; }        // outputs; 1 for a vector; of one expert for a stack
  int64_t columns() const { return columns_; }  // inputs
  int experts() const { return experts_; }      // matrices in a stack; 1 for a matrix
  size_t bytes() const { return bytes_; }       // resident

 protected:
  Weight(int64_t rows, int64_t columns, size_t bytes) : rows_(rows), columns_(columns), bytes_(bytes) {}
  int64_t rows_, columns_;
  int experts_ = 1;
  size_t bytes_;
};
using WeightRef = std::shared_ptr<const Weight>;

// An activation matrix [rows of the step, width] in float32, named by its place in the graph. The backend
// decides where it lives and for how long.
struct Value {
  int id = -1;
  int width = 0;
  // A view: the columns [offset, offset + width) of rows that are `stride` wide (Graph::view).
  int offset = 0;
  int stride = 0;
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
    kAdd,     // out_0 += g (W_0 x + b_0): the residual stream; g = sigmoid(gate) where there is a gate, else 1
    kSwiGlu,  // out_0 = silu(W_0 x) * (W_1 x)
    kRelu2,   // out_0 = max(W_0 x, 0)^2
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
  Value gate;  // [rows, 1], of kAdd; not valid: none
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
  int q_stride = 0;  // from head to head of q: head_dim, or 2 head_dim where a gate lies behind each (AttentionOp)
  std::optional<Norm> q_norm, k_norm;  // over head_dim
  std::optional<Rope> rope;            // none: no position (NoPE)
};

// out = softmax(scale q K^T + mask) V over the cache, streaming, with an optional sink in the denominator.
struct AttentionOp {
  Value q, out;
  int layer = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
  // q holds [q | gate] of head_dim each a head, and each head's result is multiplied by sigmoid(gate).
  bool gated = false;
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

// Mixture of experts: which experts each row asks, and how much each answer counts.
//   s = score(in);   the `used` largest of s + bias, the lower index among equals
//   weight = s, divided by their sum where `normalise`, times `scale`
// With groups: only experts of the `used_groups` groups with the largest sum of their two largest s + bias.
struct RouteOp {
  enum class Score { kSoftmax, kSigmoid };
  Value in;          // [rows, experts] the router's logits
  WeightRef bias;    // [experts] or null
  Score score = Score::kSoftmax;
  int used = 0;
  bool normalise = true;
  float epsilon = 0;  // added to the sum
  float scale = 1;
  int groups = 1, used_groups = 1;
  Value out;  // [rows, 2 used]: the experts' numbers, largest s + bias first, then their weights
};

// out[row, i] = f(W_e in[row]) for the i-th expert e of each row.
struct ExpertsOp {
  enum class Activation {
    kSwiGlu,  // silu(gate_e x) * (up_e x)
    kRelu2,   // max(up_e x, 0)^2
  };
  Value in, route;
  WeightRef gate, up;  // stacks of experts; gate null for kRelu2
  Activation activation = Activation::kSwiGlu;
  int used = 0;
  Value out;  // [rows, used * up's rows]
};

// out[row] (+)= sum over i of weight_i * W_e in[row, i], i in the order of the route.
struct CombineOp {
  Value in, route;
  WeightRef down;  // a stack
  int used = 0;
  bool add = true;
  Value out;
};

// Causal depthwise convolution over a sequence, then SiLU:
//   out[t, c] = silu(bias[c] + sum over j < kernel of weight[c, j] in[t - kernel + 1 + j, c])
// What lies before the step comes from the sequence's state: the last kernel - 1 inputs.
struct ConvOp {
  Value in, out;
  WeightRef weight;  // [channels * kernel]
  WeightRef bias;    // [channels] or null
  int kernel = 0;
  int state = 0;  // a layer of states: (kernel - 1) * channels floats
};

// Gated DeltaNet (Yang et al. 2024), a value head h with key head map(h), S of [key_dim][value_dim] from the state:
//   q, k = in's heads, l2-normed (eps 1e-6), q / sqrt(key_dim);   alpha = exp(decay softplus(a + dt_bias)), beta = sigmoid(b)
//   S = alpha S;   S = S + k (beta (v - S^T k))^T;   out = S^T q
struct DeltaOp {
  Value in;        // [rows, 2 key_heads key_dim + value_heads value_dim]: q, k, v
  Value a, b;      // [rows, value_heads]
  WeightRef decay, dt_bias;  // [value_heads]; decay is negative
  int key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
  HeadMap map = HeadMap::kGrouped;
  int state = 0;  // value_heads * key_dim * value_dim floats
  Value out;      // [rows, value_heads value_dim]
};

// Mamba-2 (Dao and Gu 2024), a head h with group h / (heads / groups), S of [state_dim][head_dim] from the state:
//   t = clamp(softplus(dt + dt_bias), low, high);   S = exp(t decay) S + B (t x)^T;   out = S^T C + D x
struct ScanOp {
  Value in;  // [rows, heads head_dim + 2 groups state_dim]: x, B, C
  Value dt;  // [rows, heads]
  WeightRef decay, dt_bias, d;  // [heads]; decay is negative
  int heads = 0, head_dim = 0, groups = 0, state_dim = 0;
  float low = 0, high = 0;  // of the time step
  int state = 0;            // heads * state_dim * head_dim floats
  Value out;                // [rows, heads head_dim]
};

// RMSNorm over groups of a row, beside a gate:
//   gate first (Mamba-2):  out = norm(in * silu(gate));   else (DeltaNet):  out = norm(in) * silu(gate)
struct GatedNormOp {
  Value in, gate, out;
  Norm norm;      // weight: [group] for all groups, or [row]
  int group = 0;  // channels that are normed together
  bool gate_first = false;
};

using Op = std::variant<EmbedOp, LinearOp, RopeKvOp, AttentionOp, SelectRowsOp, NormOp, RouteOp, ExpertsOp, CombineOp, ConvOp,
                        DeltaOp, ScanOp, GatedNormOp>;

}  // namespace kapitsa::backend

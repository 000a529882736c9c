// The table of CPU kernels: one set an instruction set, chosen once at start. Every set gives the same bits.
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace kapitsa::cpu {

// Activations quantised to 8 bits in blocks of 32: x = scale * q. Rows one after another.
struct QuantRows {
  int8_t* q;          // [rows, columns]
  float* scale;       // [rows, columns / 32]
  float* scaled_sum;  // [rows, columns / 32] scale * sum of q
  int32_t* sum;       // [rows, columns / 16] sums of q
  int64_t columns;    // rounded up to a multiple of 32, the rest zero
};

// What one block of keys and values is attended with: the queries of a group of heads, perhaps of several rows.
struct QueryState {
  const float* q;     // [head_dim]
  float* acc;         // [padded head_dim]
  float* sum;         // [16] the softmax denominator, lane by lane
  float max;
};

struct Kernels {
  const char* name;

  // x[columns] to 8 bits: scale = max|x| / 127, nearest even.
  void (*quantize)(const float* x, int64_t columns, QuantRows& out, int64_t row);
  // out[rows][16] = panel (16 outputs) times rows [row0, row0 + rows) of x. `scratch` holds an expanded panel.
  void (*linear_quant)(quant::Format format, const uint8_t* panel, int64_t superblocks, const QuantRows& x, int64_t row0,
                       int rows, float* out, uint8_t* scratch);
  // The same for float panels [columns][16] of F32, F16 or BF16; x is [rows][stride].
  void (*linear_float)(quant::Format format, const void* panel, int64_t columns, const float* x, int64_t stride, int rows,
                       float* out);
  // Epilogues: tile [rows][16] to out [rows][stride], of which `width` (1..16) columns exist. bias may be null.
  void (*store)(const float* tile, int rows, const float* bias, float* out, int64_t stride, int width);
  void (*add)(const float* tile, int rows, const float* bias, float* out, int64_t stride, int width);
  // out = silu(gate) * up
  void (*swiglu)(const float* gate, const float* up, int rows, float* out, int64_t stride, int width);

  // out = x * weight / sqrt(mean(x^2) + eps)
  void (*rms_norm)(const float* x, const float* weight, float eps, int64_t n, float* out);
  // Rotates the first 2 * pairs channels of x in place; neighbours: pairs (2i, 2i+1), else (i, i + pairs).
  void (*rotate)(float* x, const float* cos, const float* sin, int pairs, bool neighbours);
  void (*to_half)(const float* x, int64_t n, uint16_t* out);
  void (*from_half)(const uint16_t* x, int64_t n, float* out);

  // Attends `count` queries to one block of 64 positions: keys [head_dim][64], values [64][head_dim], both F32 or both
  // F16. Query i sees the block's places first[i] .. last[i] - 1 (at least one).
  void (*attend)(QueryState* queries, int count, const int* first, const int* last, const void* keys, const void* values,
                 bool half, int head_dim, float scale);
  // Merges `from` (the later positions) into `into`.
  void (*merge)(QueryState& into, const QueryState& from, int head_dim);
  // out[head_dim] = acc / denominator, a sink (logit of a key without a value) in it where `sink` is not null.
  void (*finish)(QueryState& state, const float* sink, int head_dim, float* out);

  // An epilogue: out = max(tile, 0)^2
  void (*relu2)(const float* tile, int rows, float* out, int64_t stride, int width);
  void (*sigmoid)(const float* x, int64_t n, float* out);
  // out *= sigmoid(gate)
  void (*sigmoid_mul)(const float* gate, int64_t n, float* out);
  // out = silu(gate) * x
  void (*silu_mul)(const float* gate, const float* x, int64_t n, float* out);
  // out += a x
  void (*axpy)(float a, const float* x, int64_t n, float* out);

  // out = silu(bias + sum over j of weight[j * stride ..] taps[j]); bias may be null.
  void (*conv)(const float* const* taps, int kernel, const float* weight, int64_t stride, const float* bias, int64_t n, float* out);
  // out = x * scale / sqrt(sum(x^2) + eps)
  void (*l2_norm)(const float* x, int64_t n, float eps, float scale, float* out);
  // A step of the gated delta rule on a state of [n][m]: S = alpha S; S += k (beta (v - S^T k))^T; out = S^T q.
  void (*delta)(float* state, const float* q, const float* k, const float* v, float alpha, float beta, int n, int m, float* out);
  // A step of Mamba-2 on a state of [n][m]: S = decay S + b (step x)^T; out = S^T c + d x.
  void (*scan)(float* state, const float* x, const float* b, const float* c, float decay, float step, float d, int n, int m,
               float* out);
};

// Bytes of scratch that linear_quant needs for `columns` inputs.
int64_t panel_scratch_bytes(int64_t columns);

// By name ("scalar", "avx2", "avx512"), or null where this machine (or build) has none such.
const Kernels* find_kernels(const char* name);
// The fastest set here; KAPITSA_CPU=name overrides it.
const Kernels& best_kernels();

}  // namespace kapitsa::cpu

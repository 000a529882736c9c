#include "backend/graph.h"

#include <fmt/format.h>

#include <stdexcept>

namespace kapitsa::backend {
namespace {

void check(const char* what, int64_t got, int64_t want) {
  if (got != want) throw std::logic_error(fmt::format("{}: {} where {} is needed", what, got, want));
}

}  // namespace

Value Graph::make(int64_t width) { return Value{next_++, static_cast<int>(width)}; }

int Graph::add_kv_layer(KvLayer layer) {
  kv_layers_.push_back(layer);
  return static_cast<int>(kv_layers_.size()) - 1;
}

Value Graph::embed(WeightRef table) {
  Value out = make(table->columns());
  ops_.push_back(EmbedOp{std::move(table), out});
  return out;
}

Value Graph::linear(Value in, WeightRef weight, WeightRef bias) {
  check("linear input", weight->columns(), in.width);
  if (bias) check("linear bias", bias->columns(), weight->rows());
  Value out = make(weight->rows());
  LinearOp op{.in = in, .norm = std::nullopt, .parts = {{weight, bias, out}}};
  ops_.push_back(std::move(op));
  return out;
}

std::vector<Value> Graph::linear(Value in, Norm norm, std::vector<LinearOp::Part> parts) {
  check("norm", norm.weight->columns(), in.width);
  std::vector<Value> outs;
  for (auto& part : parts) {
    check("linear input", part.weight->columns(), in.width);
    if (part.bias) check("linear bias", part.bias->columns(), part.weight->rows());
    part.out = make(part.weight->rows());
    outs.push_back(part.out);
  }
  ops_.push_back(LinearOp{.in = in, .norm = std::move(norm), .parts = std::move(parts)});
  return outs;
}

Value Graph::linear_normed(Value in, Norm norm, WeightRef weight) {
  return linear(in, std::move(norm), {{std::move(weight), nullptr, {}}})[0];
}

Value Graph::swiglu(Value in, Norm norm, WeightRef gate, WeightRef up) {
  check("norm", norm.weight->columns(), in.width);
  check("gate input", gate->columns(), in.width);
  check("up input", up->columns(), in.width);
  check("up output", up->rows(), gate->rows());
  Value out = make(gate->rows());
  LinearOp op{.in = in,
              .norm = std::move(norm),
              .parts = {{std::move(gate), nullptr, out}, {std::move(up), nullptr, out}},
              .epilogue = LinearOp::Epilogue::kSwiGlu};
  ops_.push_back(std::move(op));
  return out;
}

void Graph::linear_add(Value residual, Value in, WeightRef weight, WeightRef bias) {
  check("linear input", weight->columns(), in.width);
  check("residual", weight->rows(), residual.width);
  if (bias) check("linear bias", bias->columns(), weight->rows());
  LinearOp op{.in = in,
              .norm = std::nullopt,
              .parts = {{std::move(weight), std::move(bias), residual}},
              .epilogue = LinearOp::Epilogue::kAdd};
  ops_.push_back(std::move(op));
}

void Graph::rope_kv(RopeKvOp op) {
  check("q width", op.q.width, int64_t{op.heads} * op.head_dim);
  check("k width", op.k.width, int64_t{op.kv_heads} * op.head_dim);
  check("v width", op.v.width, int64_t{op.kv_heads} * op.head_dim);
  check("heads in whole groups", op.heads % op.kv_heads, 0);
  const KvLayer& layer = kv_layers_.at(op.layer);
  check("kv heads of the cache", layer.kv_heads, op.kv_heads);
  check("head size of the cache", layer.head_dim, op.head_dim);
  for (const auto& norm : {op.q_norm, op.k_norm}) {
    if (norm) check("head norm", norm->weight->columns(), op.head_dim);
  }
  if (op.rope && op.rope->inverse_frequency.size() * 2 > static_cast<size_t>(op.head_dim)) {
    check("rotated channels", static_cast<int64_t>(op.rope->inverse_frequency.size() * 2), op.head_dim);
  }
  ops_.push_back(std::move(op));
}

Value Graph::attention(AttentionOp op) {
  check("q width", op.q.width, int64_t{op.heads} * op.head_dim);
  if (op.sinks) check("sinks", op.sinks->columns(), op.heads);
  op.out = make(op.q.width);
  Value out = op.out;
  ops_.push_back(std::move(op));
  return out;
}

Value Graph::norm(Value in, Norm norm) {
  check("norm", norm.weight->columns(), in.width);
  Value out = make(in.width);
  ops_.push_back(NormOp{in, out, std::move(norm)});
  return out;
}

Value Graph::select_rows(Value in) {
  Value out = make(in.width);
  ops_.push_back(SelectRowsOp{in, out});
  return out;
}

}  // namespace kapitsa::backend

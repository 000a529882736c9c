#include "backend/graph.h"

#include <fmt/format.h>

#include <stdexcept>

namespace kapitsa::backend {
namespace {

void check(const char* what, int64_t got, int64_t want) {
  if (got != want) throw std::logic_error(fmt::format("{}: {} where {} is needed", what, got, want));
}

}  // namespace

Value Graph::make(int64_t width) {
  return Value{.id = next_++, .width = static_cast<int>(width), .stride = static_cast<int>(width)};
}

Value Graph::view(Value of, int offset, int width) const {
  if (offset < 0 || width < 1 || offset + width > of.width) check("columns of a view", offset + width, of.width);
  return Value{.id = of.id, .width = width, .offset = of.offset + offset, .stride = of.stride};
}

template <class T>
Value Graph::append(T& op, int64_t width) {
  op.out = make(width);
  const Value out = op.out;
  ops_.push_back(std::move(op));
  return out;
}

int Graph::add_kv_layer(KvLayer layer) {
  const int index = static_cast<int>(kv_layers_.size());
  kv_layers_.push_back(layer);
  size_t group = 0;
  while (group < kv_groups_.size() && kv_groups_[group].window != layer.window) ++group;
  if (group == kv_groups_.size()) kv_groups_.push_back({layer.window, {}});
  kv_groups_[group].layers.push_back(index);
  group_of_layer_.push_back(static_cast<int>(group));
  return index;
}

int Graph::add_state(int64_t floats) {
  states_.push_back(floats);
  return static_cast<int>(states_.size()) - 1;
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

std::vector<Value> Graph::linear(Value in, std::optional<Norm> norm, std::vector<LinearOp::Part> parts) {
  if (norm) check("norm", norm->weight->columns(), in.width);
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

Value Graph::swiglu(Value in, std::optional<Norm> norm, WeightRef gate, WeightRef up) {
  check("up output", up->rows(), gate->rows());
  const auto outs = linear(in, std::move(norm), {{std::move(gate), nullptr, {}}, {std::move(up), nullptr, {}}});
  auto& op = std::get<LinearOp>(ops_.back());
  op.epilogue = LinearOp::Epilogue::kSwiGlu;
  op.parts[1].out = outs[0];
  return outs[0];
}

Value Graph::relu2(Value in, std::optional<Norm> norm, WeightRef up) {
  const auto outs = linear(in, std::move(norm), {{std::move(up), nullptr, {}}});
  std::get<LinearOp>(ops_.back()).epilogue = LinearOp::Epilogue::kRelu2;
  return outs[0];
}

void Graph::linear_add(Value residual, Value in, WeightRef weight, WeightRef bias, Value gate) {
  check("linear input", weight->columns(), in.width);
  check("residual", weight->rows(), residual.width);
  if (bias) check("linear bias", bias->columns(), weight->rows());
  if (gate.valid()) check("gate", gate.width, 1);
  LinearOp op{.in = in,
              .norm = std::nullopt,
              .parts = {{std::move(weight), std::move(bias), residual}},
              .epilogue = LinearOp::Epilogue::kAdd,
              .gate = gate};
  ops_.push_back(std::move(op));
}

void Graph::rope_kv(RopeKvOp op) {
  if (op.q_stride == 0) op.q_stride = op.head_dim;
  check("q width", op.q.width, int64_t{op.heads} * op.q_stride);
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
  check("q width", op.q.width, int64_t{op.heads} * op.head_dim * (op.gated ? 2 : 1));
  check("window of the cache", kv_layers_.at(static_cast<size_t>(op.layer)).window, op.window);
  if (op.sinks) check("sinks", op.sinks->columns(), op.heads);
  return append(op, int64_t{op.heads} * op.head_dim);
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

Value Graph::route(RouteOp op) {
  if (op.bias) check("router bias", op.bias->columns(), op.in.width);
  check("experts in whole groups", op.in.width % op.groups, 0);
  if (op.used < 1 || op.used > op.in.width) check("experts used", op.used, op.in.width);
  return append(op, 2 * int64_t{op.used});
}

Value Graph::experts(ExpertsOp op) {
  check("expert input", op.up->columns(), op.in.width);
  check("route", op.route.width, 2 * int64_t{op.used});
  if (op.gate) {
    check("gate input", op.gate->columns(), op.in.width);
    check("gate output", op.gate->rows(), op.up->rows());
    check("gates", op.gate->experts(), op.up->experts());
  }
  return append(op, op.used * op.up->rows());
}

Value Graph::combine(CombineOp op) {
  check("expert output", op.down->columns() * op.used, op.in.width);
  check("route", op.route.width, 2 * int64_t{op.used});
  if (op.add) check("residual", op.down->rows(), op.out.width);
  else op.out = make(op.down->rows());
  const Value out = op.out;
  ops_.push_back(std::move(op));
  return out;
}

Value Graph::conv(ConvOp op) {
  check("convolution", op.weight->columns(), int64_t{op.in.width} * op.kernel);
  if (op.bias) check("convolution bias", op.bias->columns(), op.in.width);
  check("convolution state", states_.at(static_cast<size_t>(op.state)), int64_t{op.kernel - 1} * op.in.width);
  return append(op, op.in.width);
}

Value Graph::delta(DeltaOp op) {
  const int64_t keys = int64_t{op.key_heads} * op.key_dim, values = int64_t{op.value_heads} * op.value_dim;
  check("q, k and v", op.in.width, 2 * keys + values);
  check("a", op.a.width, op.value_heads);
  check("b", op.b.width, op.value_heads);
  check("decay", op.decay->columns(), op.value_heads);
  check("dt bias", op.dt_bias->columns(), op.value_heads);
  check("value heads in whole groups", op.value_heads % op.key_heads, 0);
  check("recurrent state", states_.at(static_cast<size_t>(op.state)), op.key_dim * values);
  return append(op, values);
}

Value Graph::scan(ScanOp op) {
  const int64_t inner = int64_t{op.heads} * op.head_dim;
  check("x, B and C", op.in.width, inner + 2 * int64_t{op.groups} * op.state_dim);
  check("dt", op.dt.width, op.heads);
  for (const auto& vector : {op.decay, op.dt_bias, op.d}) check("a number a head", vector->columns(), op.heads);
  check("heads in whole groups", op.heads % op.groups, 0);
  check("recurrent state", states_.at(static_cast<size_t>(op.state)), inner * op.state_dim);
  return append(op, inner);
}

Value Graph::gated_norm(GatedNormOp op) {
  check("gate", op.gate.width, op.in.width);
  check("row in whole groups", op.in.width % op.group, 0);
  if (op.norm.weight->columns() != op.in.width) check("norm", op.norm.weight->columns(), op.group);
  return append(op, op.in.width);
}

}  // namespace kapitsa::backend

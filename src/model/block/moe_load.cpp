#include "model/block/moe_load.h"

namespace kapitsa::model {
namespace {

constexpr int64_t kMaxExperts = 4096, kMaxWidth = 1 << 20;

// The columns (0) or rows (1) of a matrix that the file has, where no number of the config says it.
int64_t axis(const weights::Tensor* t, size_t from_end) {
  return t && t->shape.size() > from_end ? t->shape[t->shape.size() - 1 - from_end] : 0;
}

Loader::Stack stack_of(const Loader& l, const Prefix& p, bool gated, const std::string& part) {
  Loader::Stack stack;
  // MLX numbers the matrices of experts that have no gate.
  stack.mlx = fmt::format("{}switch_mlp.{}.weight", p.hf, gated ? part + "_proj" : part == "up" ? "fc1" : "fc2");
  // Newer files keep all experts' matrices in one tensor, which is no module's weight.
  const std::string fused = fmt::format("{}experts.{}_proj", p.hf, part);
  stack.whole = {l.has(fused) ? fused : stack.mlx, fmt::format("{}ffn_{}_exps.weight", p.gguf, part), {}, {}, {}};
  stack.single = [p, part](int e) { return fmt::format("{}experts.{}.{}_proj.weight", p.hf, e, part); };
  return stack;
}

// The stack of `part` out of a tensor that holds gate and up, `row` rows down.
Loader::Stack part_of_fused(const Loader& l, const Prefix& p, const std::string& part, const Name& fused, int64_t row) {
  Loader::Stack stack = stack_of(l, p, true, part);
  stack.row = row;
  (l.gguf() ? stack.whole.gguf : stack.whole.hf) = l.file_name(fused);
  return stack;
}

// The width of an expert, from the tensors themselves: configs differ in how they call it, and some give one a layer.
int64_t inner_width(const Loader& l, const Loader::Stack& down) {
  const weights::Tensor* whole = l.peek(down.whole);
  return axis(whole ? whole : l.checkpoint().find(down.single(0)), 0);
}

}  // namespace

Moe load_moe_config(Loader& l) {
  Moe m;
  for (const char* key : {"num_experts", "n_routed_experts", "num_local_experts"}) {
    if (m.experts == 0) m.experts = l.maybe_count(key, "{arch}.expert_count", kMaxExperts).value_or(0);
  }
  if (m.experts == 0) m.experts = l.count("num_experts", "{arch}.expert_count", kMaxExperts);
  m.used = l.count("num_experts_per_tok", "{arch}.expert_used_count", m.experts);
  m.normalise = l.gguf() ? l.maybe_boolean("{arch}.expert_weights_norm").value_or(true) : l.maybe_flag("norm_topk_prob").value_or(true);
  m.scale = static_cast<float>(l.maybe_number("routed_scaling_factor", "{arch}.expert_weights_scale").value_or(1));
  if (m.scale == 0) m.scale = 1;  // a converter's way to say that there is none
  m.groups = l.maybe_count("n_group", "{arch}.expert_group_count", m.experts).value_or(1);
  m.used_groups = l.maybe_count("topk_group", "{arch}.expert_group_used_count", m.groups).value_or(m.groups);
  if (m.experts % m.groups != 0) {
    l.fail(error(Code::kCorrupt, "{}: {} experts in {} groups: whole groups were expected", l.checkpoint().path, m.experts, m.groups));
  }
  return m;
}

void load_moe(Loader& l, const Config& c, const Prefix& p, bool gated, Moe& m) {
  m.router = l.matrix(router_name(p), m.experts, c.hidden, backend::Use::kExact);
  m.router_bias = l.maybe_vector(p("gate.e_score_correction_bias", "exp_probs_b.bias"), m.experts);
  const Name latent_down = p("fc1_latent_proj.weight", "ffn_latent_down.weight");
  int64_t width = c.hidden;  // what experts read and write
  if (l.has(latent_down)) {
    width = axis(l.peek(latent_down), 1);
    m.latent_down = l.matrix(latent_down, width, c.hidden);
    m.latent_up = l.matrix(p("fc2_latent_proj.weight", "ffn_latent_up.weight"), c.hidden, width);
  }
  const Loader::Stack down = stack_of(l, p, gated, "down");
  const int64_t inner = inner_width(l, down);
  if (inner < 1 || inner > kMaxWidth) {
    return l.fail(error(Code::kCorrupt, "{}: the experts of {} are missing, or {} wide", l.checkpoint().path, l.gguf() ? p.gguf : p.hf, inner));
  }
  const Name fused = p("experts.gate_up_proj", "ffn_gate_up_exps.weight");
  if (gated && l.has(fused)) {
    m.gate = l.experts(part_of_fused(l, p, "gate", fused, 0), m.experts, inner, width);
    m.up = l.experts(part_of_fused(l, p, "up", fused, inner), m.experts, inner, width);
  } else {
    if (gated) m.gate = l.experts(stack_of(l, p, gated, "gate"), m.experts, inner, width);
    m.up = l.experts(stack_of(l, p, gated, "up"), m.experts, inner, width);
  }
  m.down = l.experts(down, m.experts, width, inner);

  for (const char* hf : {"shared_expert.", "shared_experts."}) {
    const auto name = [&](const char* part) { return p(fmt::format("{}{}_proj.weight", hf, part), fmt::format("ffn_{}_shexp.weight", part)); };
    const int64_t shared = axis(l.peek(name("up")), 1);
    if (shared == 0 || m.shared_up) continue;
    if (gated) m.shared_gate = l.matrix(name("gate"), shared, c.hidden);
    m.shared_up = l.matrix(name("up"), shared, c.hidden);
    m.shared_down = l.matrix(name("down"), c.hidden, shared);
  }
  const Name shared_switch = p("shared_expert_gate.weight", "ffn_gate_inp_shexp.weight").shaped({c.hidden});
  if (l.has(shared_switch)) m.shared_switch = l.matrix(shared_switch, 1, c.hidden, backend::Use::kExact);
}

}  // namespace kapitsa::model

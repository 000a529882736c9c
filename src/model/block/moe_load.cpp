#include "model/block/moe_load.h"

namespace kapitsa::model {
namespace {

constexpr int64_t kMaxExperts = 4096, kMaxWidth = 1 << 20;

// The columns or rows of a matrix that the file has, where no number of the config says it.
int64_t rows_of(const Loader& l, const std::string& tensor, int axis_from_end) {
  const weights::Tensor* t = l.checkpoint().find(tensor);
  const auto axes = t ? static_cast<int>(t->shape.size()) : 0;
  return axes > axis_from_end ? t->shape[static_cast<size_t>(axes - 1 - axis_from_end)] : 0;
}

struct Names {
  std::string whole;                        // all experts
  std::function<std::string(int)> single;   // one expert
};

Names names_of(const Loader& l, const std::string& p, const char* part) {
  if (l.gguf()) return {fmt::format("{}ffn_{}_exps.weight", p, part), [](int) { return std::string(); }};
  // Newer files keep all experts' matrices in one tensor, which is no module's weight.
  const std::string fused = fmt::format("{}experts.{}_proj", p, part);
  return {l.has(fused) ? fused : fmt::format("{}switch_mlp.{}_proj.weight", p, part),
          [p, part](int e) { return fmt::format("{}experts.{}.{}_proj.weight", p, e, part); }};
}

backend::WeightRef stack(Loader& l, const Names& names, int count, int64_t rows, int64_t columns) {
  return l.experts(names.whole, 0, names.single, count, rows, columns);
}

// The width of an expert, from the tensors themselves: configs differ in how they call it, and some give one a layer.
int64_t inner_width(const Loader& l, const Names& down) { return rows_of(l, l.has(down.whole) ? down.whole : down.single(0), 0); }

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

void load_moe(Loader& l, const Config& c, const std::string& p, bool gated, Moe& m) {
  const bool gguf = l.gguf();
  m.router = l.matrix(p + (gguf ? "ffn_gate_inp.weight" : "gate.weight"), m.experts, c.hidden, backend::Use::kExact);
  for (const char* bias : {"exp_probs_b.bias", "gate.e_score_correction_bias"}) {
    if (l.has(p + bias)) m.router_bias = l.vector(p + bias, m.experts);
  }
  const std::string latent_down = p + (gguf ? "ffn_latent_down.weight" : "fc1_latent_proj.weight");
  const std::string latent_up = p + (gguf ? "ffn_latent_up.weight" : "fc2_latent_proj.weight");
  int64_t width = c.hidden;  // what experts read and write
  if (l.has(latent_down)) {
    width = rows_of(l, latent_down, 1);
    m.latent_down = l.matrix(latent_down, width, c.hidden);
    m.latent_up = l.matrix(latent_up, c.hidden, width);
  }
  const Names down = names_of(l, p, "down");
  const int64_t inner = inner_width(l, down);
  if (inner < 1 || inner > kMaxWidth) {
    return l.fail(error(Code::kCorrupt, "{}: the experts of {} are missing, or {} wide", l.checkpoint().path, p, inner));
  }
  const std::string fused = p + (gguf ? "ffn_gate_up_exps.weight" : "experts.gate_up_proj");
  const auto none = [fused](int) { return fused; };
  if (gated && l.has(fused)) {
    m.gate = l.experts(fused, 0, none, m.experts, inner, width);
    m.up = l.experts(fused, inner, none, m.experts, inner, width);
  } else {
    if (gated) m.gate = stack(l, names_of(l, p, "gate"), m.experts, inner, width);
    m.up = stack(l, names_of(l, p, "up"), m.experts, inner, width);
  }
  m.down = stack(l, down, m.experts, width, inner);

  for (const char* hf : {"shared_expert.", "shared_experts."}) {
    const auto name = [&](const char* part) { return gguf ? fmt::format("{}ffn_{}_shexp.weight", p, part) : fmt::format("{}{}{}_proj.weight", p, hf, part); };
    const int64_t shared = rows_of(l, name("up"), 1);
    if (shared == 0 || m.shared_up) continue;
    if (gated) m.shared_gate = l.matrix(name("gate"), shared, c.hidden);
    m.shared_up = l.matrix(name("up"), shared, c.hidden);
    m.shared_down = l.matrix(name("down"), c.hidden, shared);
  }
  const std::string shared_switch = p + (gguf ? "ffn_gate_inp_shexp.weight" : "shared_expert_gate.weight");
  if (l.has(shared_switch)) m.shared_switch = l.matrix(shared_switch, 1, c.hidden, backend::Use::kExact);
}

}  // namespace kapitsa::model

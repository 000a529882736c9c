#include "model/gguf_keys.h"

#include <algorithm>

namespace kapitsa::model {
namespace {

using weights::Metadata;

int64_t rows(const backend::WeightRef& weight) { return weight ? weight->rows() : 0; }
bool attends(const Layer& layer) { return layer.q != nullptr; }
// Nemotron-H: a layer is one mixer, and numbers that concern one kind of mixer are given a layer.
bool one_mixer_a_layer(const Transformer& m) {
  return !m.layers.empty() && std::none_of(m.layers.begin(), m.layers.end(), [](const Layer& l) { return l.mlp_norm.weight != nullptr; });
}

// The number a layer where a layer is one mixer, else the same number once.
template <class F>
void set_by_layer(const Transformer& m, Metadata& out, const char* key, int64_t all, F of_layer) {
  if (!one_mixer_a_layer(m)) {
    if (all > 0) out.set(key, all);
    return;
  }
  std::vector<int64_t> each;
  for (const Layer& layer : m.layers) each.push_back(of_layer(layer));
  out.set(key, std::move(each));
}

void set_moe(const Moe& moe, Metadata& out) {
  const auto set = [&](const char* key, int64_t n) { if (n > 0) out.set(key, n); };
  set("{arch}.expert_count", moe.experts);
  set("{arch}.expert_used_count", moe.used);
  set("{arch}.expert_feed_forward_length", rows(moe.up));
  set("{arch}.expert_shared_feed_forward_length", rows(moe.shared_up));
  set("{arch}.moe_latent_size", rows(moe.latent_down));
  if (moe.groups > 1) {
    set("{arch}.expert_group_count", moe.groups);
    set("{arch}.expert_group_used_count", moe.used_groups);
  }
  out.set("{arch}.expert_gating_func", int64_t{moe.score == backend::RouteOp::Score::kSigmoid ? 2 : 1});
  out.set("{arch}.expert_weights_norm", moe.normalise);
  out.set("{arch}.expert_weights_scale", double{moe.scale});
}

// Which layers attend: all, each n-th one, or those of a list.
void set_attention_layers(const Transformer& m, Metadata& out) {
  const auto first = std::find_if(m.layers.begin(), m.layers.end(), attends);
  const auto interval = first - m.layers.begin() + 1;
  bool regular = true;
  std::vector<bool> recurrent;
  for (size_t i = 0; i < m.layers.size(); ++i) {
    recurrent.push_back(!attends(m.layers[i]));
    regular = regular && attends(m.layers[i]) == ((static_cast<int64_t>(i) + 1) % interval == 0);
  }
  if (regular) out.set("{arch}.full_attention_interval", int64_t{interval});
  else out.set("{arch}.attention.recurrent_layers", std::move(recurrent));
}

void set_delta_net(const DeltaNet& net, Metadata& out) {
  out.set("{arch}.ssm.conv_kernel", int64_t{net.kernel});
  out.set("{arch}.ssm.state_size", int64_t{net.key_dim});
  out.set("{arch}.ssm.group_count", int64_t{net.key_heads});
  out.set("{arch}.ssm.time_step_rank", int64_t{net.value_heads});
  out.set("{arch}.ssm.inner_size", int64_t{net.value_heads} * net.value_dim);
}

void set_mamba(const Mamba& mamba, Metadata& out) {
  out.set("{arch}.ssm.conv_kernel", int64_t{mamba.kernel});
  out.set("{arch}.ssm.state_size", int64_t{mamba.state_dim});
  out.set("{arch}.ssm.group_count", int64_t{mamba.groups});
  out.set("{arch}.ssm.time_step_rank", int64_t{mamba.heads});
  out.set("{arch}.ssm.inner_size", int64_t{mamba.heads} * mamba.head_dim);
}

void set_windows(const Transformer& m, Metadata& out) {
  std::vector<bool> sliding, turned;
  int window = 0;
  for (const Layer& layer : m.layers) {
    sliding.push_back(layer.window > 0);
    turned.push_back(layer.rope);
    window = std::max(window, layer.window);
  }
  if (std::find(turned.begin(), turned.end(), false) != turned.end()) out.set("{arch}.attention.rope_pattern", std::move(turned));
  if (window == 0) return;
  out.set("{arch}.attention.sliding_window", int64_t{window});
  out.set("{arch}.attention.sliding_window_pattern", std::move(sliding));
}

}  // namespace

void set_gguf_keys(const Transformer& m, Metadata& out) {
  const Config& c = m.config;
  out.set("{arch}.block_count", static_cast<int64_t>(m.layers.size()));
  out.set("{arch}.context_length", int64_t{c.context});
  out.set("{arch}.embedding_length", int64_t{c.hidden});
  out.set("{arch}.vocab_size", int64_t{c.vocabulary});
  out.set("{arch}.attention.layer_norm_rms_epsilon", double{c.norm_eps});
  // Readers of Nemotron-H ask for both.
  if (one_mixer_a_layer(m)) out.set("{arch}.attention.layer_norm_epsilon", double{c.norm_eps});
  out.set("{arch}.attention.head_count", int64_t{c.heads});
  set_by_layer(m, out, "{arch}.attention.head_count_kv", c.kv_heads,
               [&](const Layer& layer) { return attends(layer) ? int64_t{c.kv_heads} : 0; });
  out.set("{arch}.attention.key_length", int64_t{c.head_dim});
  out.set("{arch}.attention.value_length", int64_t{c.head_dim});
  set_by_layer(m, out, "{arch}.feed_forward_length", c.intermediate,
               [](const Layer& layer) { return layer.moe ? rows(layer.moe->up) : rows(layer.up); });
  set_windows(m, out);

  const auto first = [&](auto has) { return std::find_if(m.layers.begin(), m.layers.end(), has); };
  const auto moe = first([](const Layer& l) { return l.moe.has_value(); });
  const auto delta = first([](const Layer& l) { return l.delta.has_value(); });
  const auto mamba = first([](const Layer& l) { return l.mamba.has_value(); });
  if (moe != m.layers.end()) {
    set_moe(*moe->moe, out);
    if (!one_mixer_a_layer(m) && moe != m.layers.begin()) out.set("{arch}.leading_dense_block_count", int64_t{moe - m.layers.begin()});
  }
  if (delta != m.layers.end()) {
    set_delta_net(*delta->delta, out);
    set_attention_layers(m, out);
  }
  if (mamba != m.layers.end()) set_mamba(*mamba->mamba, out);
}

}  // namespace kapitsa::model

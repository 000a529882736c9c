// Nemotron-H's names in Hugging Face and GGUF files. What kind a layer is shows in its tensors.
#include "model/architecture.h"
#include "model/block/dense_load.h"
#include "model/block/mamba.h"
#include "model/block/moe_load.h"

namespace kapitsa::model {

void nemotron_h_forward(const Transformer& model, backend::Graph& graph);

namespace {

constexpr int64_t kMaxHead = 1024, kMaxHeads = 1024;

void load_attention_numbers(Loader& l, Config& c) {
  // Per layer in a GGUF, 0 where a layer has no attention: the largest counts.
  const auto most = [&](const char* json, const char* gguf, int otherwise) {
    const std::vector<int> all = l.maybe_counts(json, gguf, c.layers, kMaxHeads);
    const int largest = all.empty() ? 0 : *std::max_element(all.begin(), all.end());
    return largest > 0 ? largest : otherwise;
  };
  c.heads = most("num_attention_heads", "{arch}.attention.head_count", 1);
  c.kv_heads = most("num_key_value_heads", "{arch}.attention.head_count_kv", c.heads);
  c.head_dim = l.maybe_count("head_dim", "{arch}.attention.key_length", kMaxHead).value_or(std::max(1, c.hidden / c.heads));
  if (c.heads % c.kv_heads != 0) {
    l.fail(error(Code::kCorrupt, "{}: {} query heads over {} KV heads: a whole number a KV head was expected", l.checkpoint().path, c.heads, c.kv_heads));
  }
}

void load_attention_layer(Loader& l, const Config& c, const Prefix& p, Layer& layer) {
  const int64_t q = int64_t{c.heads} * c.head_dim, kv = int64_t{c.kv_heads} * c.head_dim;
  layer.q = l.matrix(p("q_proj.weight", "attn_q.weight"), q, c.hidden);
  layer.k = l.matrix(p("k_proj.weight", "attn_k.weight"), kv, c.hidden);
  layer.v = l.matrix(p("v_proj.weight", "attn_v.weight"), kv, c.hidden);
  layer.o = l.matrix(p("o_proj.weight", "attn_output.weight"), c.hidden, q);
  layer.q_bias = l.maybe_vector(p("q_proj.bias", "attn_q.bias"), q);
  layer.k_bias = l.maybe_vector(p("k_proj.bias", "attn_k.bias"), kv);
  layer.v_bias = l.maybe_vector(p("v_proj.bias", "attn_v.bias"), kv);
  layer.o_bias = l.maybe_vector(p("o_proj.bias", "attn_output.bias"), c.hidden);
}

void load(Loader& l, Transformer& m) {
  Config& c = m.config;
  load_common_config(l, c);
  // Newer configs list the layers' kinds and count them nowhere.
  const bool counted = c.layers > 0;
  while (!counted && c.layers < 1024 && l.has(fmt::format("{}layers.{}.norm.weight", l.trunk(), c.layers))) ++c.layers;
  if (c.layers == 0) l.fail(error(Code::kCorrupt, "{}: there are no layers", l.checkpoint().path));
  load_attention_numbers(l, c);
  leave_drafts(l, c);
  for (const char* part : {"mtp.", "vision_model.", "mlp1.", "sound_encoder.", "sound_projection."}) l.ignore_prefix(part);
  Mamba mamba;
  Moe moe;
  bool has_mamba = false, has_moe = false;
  load_ends(l, m);
  for (int i = 0; i < c.layers && l.status().ok(); ++i) {
    Layer& layer = m.layers.emplace_back();
    const Prefix prefix = layer_prefix(l, i), p = prefix.in("mixer.");
    const Name up = p("up_proj.weight", "ffn_up.weight");
    layer.attention_norm = l.norm(prefix("norm.weight", "attn_norm.weight"), c.hidden, c.norm_eps);
    if (l.has(p("in_proj.weight", "ssm_in.weight"))) {
      if (!std::exchange(has_mamba, true)) mamba = load_mamba_config(l);
      load_mamba(l, c, p, layer.mamba.emplace(mamba));
    } else if (l.has(router_name(p))) {
      if (!std::exchange(has_moe, true)) {
        moe = load_moe_config(l);
        moe.score = backend::RouteOp::Score::kSigmoid;
        moe.epsilon = 1e-20f;
      }
      load_moe(l, c, p, false, layer.moe.emplace(moe));
    } else if (const weights::Tensor* there = l.peek(up)) {
      layer.up = l.matrix(up, there->rows(), c.hidden);
      layer.down = l.matrix(p("down_proj.weight", "ffn_down.weight"), c.hidden, layer.up ? layer.up->rows() : 0);
    } else {
      load_attention_layer(l, c, p, layer);
    }
  }
}

}  // namespace

extern const Architecture nemotron_h_architecture;
const Architecture nemotron_h_architecture = {"nemotron_h", {"nemotron_h"}, {"nemotron_h", "nemotron_h_moe"}, load, nemotron_h_forward};

}  // namespace kapitsa::model

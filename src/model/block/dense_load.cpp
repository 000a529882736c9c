#include "model/block/dense_load.h"

#include "model/block/rope.h"

namespace kapitsa::model {
namespace {

// Far above any model there is, far below what would overflow a product of two.
constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxHead = 1024, kMaxGroup = 64;

}  // namespace

void load_dense_config(Loader& l, Config& c, double default_theta, backend::RopePairs gguf_pairs) {
  c.name = l.maybe_text("_name_or_path", "general.name").value_or("");
  c.layers = l.count("num_hidden_layers", "{arch}.block_count", 1024);
  c.hidden = l.count("hidden_size", "{arch}.embedding_length", kMaxWidth);
  c.heads = l.count("num_attention_heads", "{arch}.attention.head_count", 1024);
  c.kv_heads = l.maybe_count("num_key_value_heads", "{arch}.attention.head_count_kv", 1024).value_or(c.heads);
  c.head_dim = l.maybe_count("head_dim", "{arch}.attention.key_length", kMaxHead).value_or(c.hidden / c.heads);
  c.intermediate = l.count("intermediate_size", "{arch}.feed_forward_length", kMaxWidth);
  c.context = l.count("max_position_embeddings", "{arch}.context_length", 1 << 28);
  c.norm_eps = static_cast<float>(l.maybe_number("rms_norm_eps", "{arch}.attention.layer_norm_rms_epsilon").value_or(1e-6));
  if (!(c.norm_eps >= 0) || !(c.norm_eps <= 1)) {
    return l.fail(error(Code::kCorrupt, "{}: a norm's epsilon of {}; a number from 0 to 1 was expected", l.checkpoint().path, c.norm_eps));
  }
  c.tied = l.gguf() ? !l.has("output.weight") : l.maybe_flag("tie_word_embeddings").value_or(!l.has("lm_head.weight"));
  if (const weights::Tensor* embedding = l.checkpoint().find(l.gguf() ? "token_embd.weight" : "model.embed_tokens.weight")) {
    c.vocabulary = static_cast<int>(std::min<int64_t>(embedding->rows(), kMaxWidth * 16));
  }
  if (!l.status().ok()) return;
  if (c.heads % c.kv_heads != 0 || c.heads / c.kv_heads > kMaxGroup) {
    return l.fail(error(Code::kCorrupt, "{}: {} query heads over {} KV heads: a whole number up to {} a KV head was expected",
                        l.checkpoint().path, c.heads, c.kv_heads, kMaxGroup));
  }
  if (c.head_dim < 2 || c.head_dim % 2 != 0) {
    return l.fail(error(Code::kCorrupt, "{}: a head of {} channels; an even number up to {} was expected", l.checkpoint().path,
                        c.head_dim, kMaxHead));
  }
  const std::string activation = l.maybe_text("hidden_act", "").value_or("silu");
  if (activation != "silu") {
    return l.fail(error(Code::kUnsupported, "{}: activation \"{}\" is not supported here (silu is)", l.checkpoint().path, activation));
  }
  if (const double part = l.maybe_number("partial_rotary_factor", "").value_or(1); part != 1) {
    return l.fail(error(Code::kUnsupported, "{}: partial_rotary_factor {} is not supported here (1 is)", l.checkpoint().path, part));
  }
  const int rotated = l.maybe_count("", "{arch}.rope.dimension_count", c.head_dim).value_or(c.head_dim);
  if (rotated % 2 != 0) {
    return l.fail(error(Code::kCorrupt, "{}: rotary positions turn pairs of channels, and {} channels are no pairs",
                        l.checkpoint().path, rotated));
  }
  c.rope = load_rope(l, rotated, c.context, default_theta, l.gguf() ? gguf_pairs : backend::RopePairs::kHalves);
}

std::string layer_prefix(const Loader& l, int layer) { return fmt::format("{}.{}.", l.gguf() ? "blk" : "model.layers", layer); }

void load_ends(Loader& l, Transformer& m) {
  const Config& c = m.config;
  const bool gguf = l.gguf();
  m.embedding = l.matrix(gguf ? "token_embd.weight" : "model.embed_tokens.weight", c.vocabulary, c.hidden, !c.tied);
  m.final_norm = l.norm(gguf ? "output_norm.weight" : "model.norm.weight", c.hidden, c.norm_eps);
  if (c.tied) {
    m.head = m.embedding;
    l.ignore("lm_head.weight");  // some files store the tied matrix twice
  } else {
    m.head = l.matrix(gguf ? "output.weight" : "lm_head.weight", c.vocabulary, c.hidden);
  }
}

void load_attention(Loader& l, const Config& c, const std::string& p, Layer& layer) {
  const bool gguf = l.gguf();
  const int64_t q = int64_t{c.heads} * c.head_dim, kv = int64_t{c.kv_heads} * c.head_dim;
  const auto name = [&](const char* hf, const char* gg) { return p + (gguf ? gg : hf); };
  layer.attention_norm = l.norm(name("input_layernorm.weight", "attn_norm.weight"), c.hidden, c.norm_eps);
  layer.q = l.matrix(name("self_attn.q_proj.weight", "attn_q.weight"), q, c.hidden);
  layer.k = l.matrix(name("self_attn.k_proj.weight", "attn_k.weight"), kv, c.hidden);
  layer.v = l.matrix(name("self_attn.v_proj.weight", "attn_v.weight"), kv, c.hidden);
  layer.o = l.matrix(name("self_attn.o_proj.weight", "attn_output.weight"), c.hidden, q);
  layer.q_bias = l.maybe_vector(name("self_attn.q_proj.bias", "attn_q.bias"), q);
  layer.k_bias = l.maybe_vector(name("self_attn.k_proj.bias", "attn_k.bias"), kv);
  layer.v_bias = l.maybe_vector(name("self_attn.v_proj.bias", "attn_v.bias"), kv);
  layer.o_bias = l.maybe_vector(name("self_attn.o_proj.bias", "attn_output.bias"), c.hidden);
  layer.mlp_norm = l.norm(name("post_attention_layernorm.weight", "ffn_norm.weight"), c.hidden, c.norm_eps);
  // A buffer that old checkpoints carry along.
  l.ignore(p + "self_attn.rotary_emb.inv_freq");
}

void load_mlp(Loader& l, const Config& c, const std::string& p, Layer& layer) {
  const bool gguf = l.gguf();
  const auto name = [&](const char* hf, const char* gg) { return p + (gguf ? gg : hf); };
  layer.gate = l.matrix(name("mlp.gate_proj.weight", "ffn_gate.weight"), c.intermediate, c.hidden);
  layer.up = l.matrix(name("mlp.up_proj.weight", "ffn_up.weight"), c.intermediate, c.hidden);
  layer.down = l.matrix(name("mlp.down_proj.weight", "ffn_down.weight"), c.hidden, c.intermediate);
}

}  // namespace kapitsa::model

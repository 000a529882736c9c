#include "model/block/dense_load.h"

#include "model/block/rope.h"

namespace kapitsa::model {
namespace {

// Far above any model there is, far below what would overflow a product of two.
constexpr int64_t kMaxWidth = 1 << 20;
constexpr int64_t kMaxHead = 1024, kMaxGroup = 64;

// The tensor's name: in a Hugging Face file the first of `hf` that is there behind the trunk's prefix, else the first of all.
Name pick(const Loader& l, const char* gguf, std::initializer_list<const char*> hf) {
  const Prefix trunk{l.trunk(), ""};
  for (const char* one : hf) {
    if (l.has(l.trunk() + one)) return trunk(one, gguf);
  }
  return trunk(*hf.begin(), gguf);
}

Name embedding_name(const Loader& l) { return pick(l, "token_embd.weight", {"embed_tokens.weight", "embeddings.weight"}); }

Name head_name(const Loader& l) {
  const char* nested = "language_model.lm_head.weight";
  return {l.has(nested) ? nested : "lm_head.weight", "output.weight", {}, {}, {}};
}

// The order of a GGUF's rows, head by head, where its RoPE turns neighbouring channels and the checkpoint's halves.
std::vector<int32_t> neighbour_rows(int heads, int head_dim) {
  std::vector<int32_t> rows(static_cast<size_t>(heads) * static_cast<size_t>(head_dim));
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const int in_head = i % head_dim;
    rows[static_cast<size_t>(i)] = i - in_head + in_head % 2 * (head_dim / 2) + in_head / 2;
  }
  return rows;
}

// The share of a head's channels that RoPE turns.
double rotated_part(Loader& l) {
  if (l.gguf() || !l.config().is_object()) return 1;
  if (const auto part = l.maybe_number("partial_rotary_factor", "")) return *part;
  const auto rope = l.config().find("rope_parameters");
  if (rope == l.config().end() || !rope->is_object()) return 1;
  const auto part = rope->find("partial_rotary_factor");
  return part != rope->end() && part->is_number() ? part->get<double>() : 1;
}

}  // namespace

void load_common_config(Loader& l, Config& c) {
  c.name = l.maybe_text("_name_or_path", "general.name").value_or("");
  c.layers = l.maybe_count("num_hidden_layers", "{arch}.block_count", 1024).value_or(0);
  c.hidden = l.count("hidden_size", "{arch}.embedding_length", kMaxWidth);
  c.context = l.count("max_position_embeddings", "{arch}.context_length", 1 << 28);
  c.norm_eps = static_cast<float>(
      l.maybe_number("rms_norm_eps", "{arch}.attention.layer_norm_rms_epsilon").value_or(l.maybe_number("layer_norm_epsilon", "").value_or(1e-6)));
  if (!(c.norm_eps >= 0) || !(c.norm_eps <= 1)) {
    return l.fail(error(Code::kCorrupt, "{}: a norm's epsilon of {}; a number from 0 to 1 was expected", l.checkpoint().path, c.norm_eps));
  }
  const bool no_head = !l.has(head_name(l));
  c.tied = l.gguf() ? no_head : l.maybe_flag("tie_word_embeddings").value_or(no_head);
  if (const weights::Tensor* embedding = l.peek(embedding_name(l))) {
    c.vocabulary = static_cast<int>(std::min<int64_t>(embedding->rows(), kMaxWidth * 16));
  }
}

void load_dense_config(Loader& l, Config& c, double default_theta, backend::RopePairs gguf_pairs) {
  load_common_config(l, c);
  c.layers = l.count("num_hidden_layers", "{arch}.block_count", 1024);
  c.heads = l.count("num_attention_heads", "{arch}.attention.head_count", 1024);
  c.kv_heads = l.maybe_count("num_key_value_heads", "{arch}.attention.head_count_kv", 1024).value_or(c.heads);
  c.head_dim = l.maybe_count("head_dim", "{arch}.attention.key_length", kMaxHead).value_or(c.hidden / c.heads);
  c.intermediate = l.maybe_count("intermediate_size", "{arch}.feed_forward_length", kMaxWidth).value_or(0);
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
  const double part = rotated_part(l);
  const int rotated = l.maybe_count("", "{arch}.rope.dimension_count", c.head_dim).value_or(static_cast<int>(c.head_dim * part));
  if (rotated % 2 != 0 || rotated < 2 || rotated > c.head_dim) {
    return l.fail(error(Code::kCorrupt, "{}: rotary positions turn pairs of channels, and {} channels are no pairs",
                        l.checkpoint().path, rotated));
  }
  c.rope = load_rope(l, rotated, c.context, default_theta, l.gguf() ? gguf_pairs : backend::RopePairs::kHalves);
}

void leave_drafts(Loader& l, Config& c) {
  const int drafts = l.gguf() ? static_cast<int>(l.maybe_number("", "{arch}.nextn_predict_layers").value_or(0)) : 0;
  if (drafts > 0 && drafts < c.layers) c.layers -= drafts;
  for (int i = 0; i < drafts; ++i) l.ignore_prefix(fmt::format("blk.{}.", c.layers + i));
}

Prefix layer_prefix(const Loader& l, int layer) {
  return {fmt::format("{}layers.{}.", l.trunk(), layer), fmt::format("blk.{}.", layer)};
}

void load_ends(Loader& l, Transformer& m, float offset) {
  const Config& c = m.config;
  m.embedding = l.matrix(embedding_name(l), c.vocabulary, c.hidden,
                         c.tied ? backend::Use::kProduct : backend::Use::kRows);
  m.final_norm = l.norm(pick(l, "output_norm.weight", {"norm.weight", "norm_f.weight"}), c.hidden, c.norm_eps, offset);
  const Name head = head_name(l);
  if (c.tied) {
    m.head = m.embedding;
    l.ignore(head);  // some files store the tied matrix twice
  } else {
    m.head = l.matrix(head, c.vocabulary, c.hidden);
  }
}

void load_norms(Loader& l, const Config& c, const Prefix& p, Layer& layer, float offset, const char* gguf_post) {
  layer.attention_norm = l.norm(p("input_layernorm.weight", "attn_norm.weight"), c.hidden, c.norm_eps, offset);
  for (const char* other : {"ffn_norm.weight", "post_attention_norm.weight"}) {
    if (l.gguf() && l.has(p.gguf + other)) gguf_post = other;
  }
  layer.mlp_norm = l.norm(p("post_attention_layernorm.weight", gguf_post), c.hidden, c.norm_eps, offset);
}

void load_attention(Loader& l, const Config& c, const Prefix& p, Layer& layer, int q_parts, backend::RopePairs gguf_pairs) {
  const int64_t q = int64_t{c.heads} * c.head_dim, kv = int64_t{c.kv_heads} * c.head_dim;
  const auto turned = [&](Name name, int heads) {
    return gguf_pairs == backend::RopePairs::kNeighbours ? std::move(name).with_rows(neighbour_rows(heads, c.head_dim)) : name;
  };
  layer.q = l.matrix(turned(p("self_attn.q_proj.weight", "attn_q.weight"), c.heads), q * q_parts, c.hidden);
  layer.k = l.matrix(turned(p("self_attn.k_proj.weight", "attn_k.weight"), c.kv_heads), kv, c.hidden);
  layer.v = l.matrix(p("self_attn.v_proj.weight", "attn_v.weight"), kv, c.hidden);
  layer.o = l.matrix(p("self_attn.o_proj.weight", "attn_output.weight"), c.hidden, q);
  layer.q_bias = l.maybe_vector(turned(p("self_attn.q_proj.bias", "attn_q.bias"), c.heads), q * q_parts);
  layer.k_bias = l.maybe_vector(turned(p("self_attn.k_proj.bias", "attn_k.bias"), c.kv_heads), kv);
  layer.v_bias = l.maybe_vector(p("self_attn.v_proj.bias", "attn_v.bias"), kv);
  layer.o_bias = l.maybe_vector(p("self_attn.o_proj.bias", "attn_output.bias"), c.hidden);
  // A buffer that old checkpoints carry along.
  l.ignore(p.hf + "self_attn.rotary_emb.inv_freq");
}

void load_head_norms(Loader& l, const Config& c, const Prefix& p, Layer& layer, float offset) {
  layer.q_norm = l.norm(p("self_attn.q_norm.weight", "attn_q_norm.weight"), c.head_dim, c.norm_eps, offset);
  layer.k_norm = l.norm(p("self_attn.k_norm.weight", "attn_k_norm.weight"), c.head_dim, c.norm_eps, offset);
}

void load_mlp(Loader& l, const Config& c, const Prefix& p, Layer& layer) {
  layer.gate = l.matrix(p("mlp.gate_proj.weight", "ffn_gate.weight"), c.intermediate, c.hidden);
  layer.up = l.matrix(p("mlp.up_proj.weight", "ffn_up.weight"), c.intermediate, c.hidden);
  layer.down = l.matrix(p("mlp.down_proj.weight", "ffn_down.weight"), c.hidden, c.intermediate);
}

}  // namespace kapitsa::model

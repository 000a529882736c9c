#include "app/model_facts.h"

#include <algorithm>
#include <array>

#include "backend/outline.h"
#include "engine/plan.h"
#include "engine/scheduler.h"
#include "model/model.h"

namespace kapitsa::app {
namespace {

using weights::Checkpoint;
using weights::Container;

constexpr int kPromptRows = engine::Scheduler::kPrefillAlone;  // tokens of a prompt that are computed together

// A number of config.json (or of the language model's part of it) or of the GGUF header.
std::optional<int64_t> number(const Checkpoint& c, const std::string& architecture,
                              const char* json_key, const std::string& gguf_key) {
  if (c.container == Container::gguf) {
    const std::string key = architecture + "." + gguf_key;
    if (const auto n = c.metadata.integer(key)) return n;
    // Some families give one number a layer.
    const auto* list = c.metadata.integers(key);
    if (list != nullptr && !list->empty()) return *std::max_element(list->begin(), list->end());
    return std::nullopt;
  }
  const Json* config = &c.config;
  if (config->is_object() && config->contains("text_config")) config = &(*config)["text_config"];
  if (!config->is_object()) return std::nullopt;
  const auto at = config->find(json_key);
  if (at == config->end() || !at->is_number_integer()) return std::nullopt;
  return at->get<int64_t>();
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](auto word) { return text.find(word) != text.npos; });
}

void count(const weights::Tensor& tensor, TensorClass& into) {
  ++into.tensors;
  into.parameters += tensor.rows() * tensor.columns();
  into.bytes += tensor.stored_bytes();
  into.formats[tensor.format_name()] += tensor.stored_bytes();
}

bool sane(std::optional<int64_t> n) {
  return n && *n > 0 && *n < (int64_t{1} << 31);
}

}  // namespace

std::string_view tensor_class(std::string_view name) {
  if (has_any(name, {"norm", "ln_f", "ln_1", "ln_2"})) return "norms";
  if (has_any(name, {"lm_head"}) || name.substr(0, 7) == "output.") return "head";
  if (has_any(name, {"embed_tokens", "token_embd", "wte", "embeddings"})) return "embedding";
  if (has_any(name, {"ssm", "mamba", "linear_attn", "conv1d", "mixer"})) return "recurrent";
  if (has_any(name, {"attn", "attention"})) return "attention";
  if (has_any(name, {"mlp", "ffn", "expert", "feed_forward", "router"})) return "mlp";
  return "other";
}

ModelFacts read_facts(const Checkpoint& c) {
  ModelFacts facts;
  facts.architecture = model::declared_architecture(c);
  facts.runs = model::runs_architecture(c);
  const std::string& a = facts.architecture;
  if (c.container == Container::gguf) {
    if (const auto* title = c.metadata.string("general.name")) facts.title = *title;
  }
  facts.layers = number(c, a, "num_hidden_layers", "block_count");
  facts.hidden = number(c, a, "hidden_size", "embedding_length");
  facts.heads = number(c, a, "num_attention_heads", "attention.head_count");
  facts.kv_heads = number(c, a, "num_key_value_heads", "attention.head_count_kv");
  if (!facts.kv_heads) facts.kv_heads = facts.heads;
  facts.head_dim = number(c, a, "head_dim", "attention.key_length");
  if (!facts.head_dim && sane(facts.hidden) && sane(facts.heads))
    facts.head_dim = *facts.hidden / *facts.heads;
  facts.intermediate = number(c, a, "intermediate_size", "feed_forward_length");
  facts.context = number(c, a, "max_position_embeddings", "context_length");
  facts.vocabulary = number(c, a, "vocab_size", "vocab_size");
  if (const auto* pieces = c.metadata.strings("tokenizer.ggml.tokens");
      !facts.vocabulary && pieces) {
    facts.vocabulary = static_cast<int64_t>(pieces->size());
  }

  constexpr std::array<const char*, 7> kOrder = {"attention", "recurrent", "mlp",  "embedding",
                                                 "head",      "norms",     "other"};
  for (const char* name : kOrder) facts.classes.push_back({.name = name});
  facts.all.name = "all";
  for (const auto& [name, tensor] : c.tensors()) {
    const auto at =
        std::find_if(facts.classes.begin(), facts.classes.end(),
                     [&, of = tensor_class(name)](const TensorClass& t) { return t.name == of; });
    count(tensor, *at);
    count(tensor, facts.all);
  }
  std::erase_if(facts.classes, [](const TensorClass& t) { return t.tensors == 0; });
  facts.unread = c.unread().size();
  if (!c.unread().empty()) facts.unread_type = c.unread().begin()->second;
  facts.file_bytes = c.file_bytes();
  for (const char* key : {"num_experts", "n_routed_experts", "num_local_experts"}) {
    if (!facts.experts) facts.experts = number(c, a, key, "expert_count");
  }
  facts.experts_used = number(c, a, "num_experts_per_tok", "expert_used_count");
  if (facts.experts == 0) facts.experts.reset();
  return facts;
}

void read_outline(const Checkpoint& c, ModelFacts& facts) {
  backend::Outline outline;
  // Not owned: the outline is gone before this returns.
  const std::shared_ptr<const Checkpoint> borrowed(std::shared_ptr<const Checkpoint>(), &c);
  if (auto model = model::Model::load(borrowed, outline); model.ok()) facts.graph = (*model)->graph();
  else facts.fault = model.message();
}

uint64_t ModelFacts::cache_bytes(int64_t tokens) const {
  return engine::sequence_bytes(*graph, backend::KvType::kF16, tokens, kPromptRows);
}

uint64_t ModelFacts::scratch_bytes() const {
  // The residual stream, and what the widest op reads and writes, with a copy of its input.
  int64_t widest = 0;
  for (const backend::Op& op : graph->ops()) {
    int64_t width = 0;
    if (const auto* linear = std::get_if<backend::LinearOp>(&op)) {
      if (linear->parts[0].out.id == graph->logits.id) continue;
      width = 2 * linear->in.width;
      for (const auto& part : linear->parts) width += part.out.width;
    } else if (const auto* ask = std::get_if<backend::ExpertsOp>(&op)) {
      width = int64_t{ask->used} * ask->in.width + ask->out.width;
    } else if (const auto* sum = std::get_if<backend::CombineOp>(&op)) {
      width = 2 * sum->in.width + sum->used * sum->down->rows();
    }
    widest = std::max(widest, width);
  }
  return static_cast<uint64_t>((2 * hidden.value_or(0) + widest) * 4 * kPromptRows);
}

uint64_t ModelFacts::memory(int64_t tokens) const { return all.bytes + cache_bytes(tokens) + scratch_bytes(); }

}  // namespace kapitsa::app

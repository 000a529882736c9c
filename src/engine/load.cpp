#include "engine/load.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/log.h"
#include "engine/plan.h"
#include "engine/scheduler.h"
#include "weights/checkpoint.h"

namespace kapitsa::engine {
namespace {

std::string name_of(const std::string& path) {
  const std::filesystem::path p = std::filesystem::path(path).lexically_normal();
  return p.has_filename() ? (p.extension() == ".gguf" ? p.stem() : p.filename()).string() : p.parent_path().filename().string();
}

// Ids that generation_config.json and config.json name as ends, beside the tokenizer's own.
void add_eos(const Json& config, std::vector<TokenId>& eos) {
  if (!config.is_object()) return;
  const auto it = config.find("eos_token_id");
  if (it == config.end()) return;
  const auto add = [&](const Json& id) {
    if (!id.is_number_integer()) return;
    const auto wide = id.get<int64_t>();
    if (wide < 0 || wide > std::numeric_limits<TokenId>::max()) return;
    const auto value = static_cast<TokenId>(wide);
    if (std::find(eos.begin(), eos.end(), value) == eos.end()) eos.push_back(value);
  };
  if (it->is_array()) std::for_each(it->begin(), it->end(), add);
  else add(*it);
}

}  // namespace

Result<std::unique_ptr<text::Tokenizer>> load_tokenizer(const weights::Checkpoint& checkpoint) {
  if (checkpoint.container == weights::Container::gguf) return text::Tokenizer::from_gguf(checkpoint.metadata);
  if (checkpoint.tokenizer_json_path.empty()) {
    return error(Code::kNotFound, "{}: there is no tokenizer.json", checkpoint.path);
  }
  KAPITSA_ASSIGN(const std::string text, read_file(checkpoint.tokenizer_json_path, size_t{256} << 20));
  KAPITSA_ASSIGN(const Json json, parse_json(text, checkpoint.tokenizer_json_path));
  KAPITSA_ASSIGN(auto tokenizer, text::Tokenizer::from_json(json, checkpoint.tokenizer_config));
  add_eos(checkpoint.generation_config, tokenizer->eos);
  add_eos(checkpoint.config, tokenizer->eos);
  return tokenizer;
}

Sampling default_sampling() { return {.temperature = kDefaultTemperature, .top_p = kDefaultTopP}; }

std::optional<Sampling> recommended_sampling(const weights::Checkpoint& checkpoint) {
  // Unnamed parameters of a file that names others have the meaning that its own library gives them: off.
  Sampling s;
  bool stated = false;
  const auto set = [&](auto& field, const char* json_key, const char* gguf_key, double least, double most) {
    std::optional<double> number;
    if (checkpoint.container == weights::Container::gguf) {
      number = checkpoint.metadata.number(gguf_key);
    } else if (const Json& g = checkpoint.generation_config; g.is_object()) {
      if (const auto it = g.find(json_key); it != g.end() && it->is_number()) number = it->get<double>();
    }
    if (!number) return;
    if (!(*number >= least) || !(*number <= most)) {
      spdlog::warn("{}: recommends {} = {}, which is not within {} to {}; ignored", checkpoint.path, json_key, *number, least, most);
      return;
    }
    field = static_cast<std::decay_t<decltype(field)>>(*number);
    stated = true;
  };
  set(s.temperature, "temperature", "general.sampling.temp", 0, 100);
  set(s.top_k, "top_k", "general.sampling.top_k", 0, 1e6);
  set(s.top_p, "top_p", "general.sampling.top_p", 0.001, 1);
  set(s.min_p, "min_p", "general.sampling.min_p", 0, 1);
  set(s.repetition_penalty, "repetition_penalty", "general.sampling.penalty_repeat", 0.01, 100);
  if (const Json& g = checkpoint.generation_config; g.is_object()) {
    if (const auto it = g.find("do_sample"); it != g.end() && it->is_boolean() && !it->get<bool>()) {
      s.temperature = 0;
      stated = true;
    }
  }
  return stated ? std::optional(s) : std::nullopt;
}

Result<std::unique_ptr<Engine>> load(const LoadOptions& options) {
  KAPITSA_ASSIGN(auto opened, weights::Checkpoint::open(options.path));
  const auto checkpoint = std::make_shared<const weights::Checkpoint>(std::move(opened));
  // First: a family that is too new often has a tokenizer that is, too.
  KAPITSA_RETURN_IF_ERROR(model::check_architecture(*checkpoint));
  Parts parts;
  KAPITSA_ASSIGN(parts.tokenizer, load_tokenizer(*checkpoint));
  if (!checkpoint->chat_template.empty()) {
    auto compiled = text::ChatTemplate::compile(checkpoint->chat_template);
    // Raw prompts work without it.
    if (compiled.ok()) parts.chat_template = *std::move(compiled);
    else spdlog::warn("{}: its chat template cannot be used, only raw prompts work: {}", options.path, compiled.message());
  }
  KAPITSA_ASSIGN(parts.backend, backend::make(options.backend));
  // Known before anything is packed: a model that cannot fit is refused, not killed by the system half way.
  const size_t memory = options.memory > 0 ? options.memory : parts.backend->limits().memory_bytes;
  if (const size_t have = memory; checkpoint->file_bytes() + kReserve > have) {
    return error(Code::kExhausted, "{}: the weights take {} MB and {} MB are kept for the rest, this machine has {} MB: use a smaller quantisation or model",
                 options.path, checkpoint->file_bytes() >> 20, kReserve >> 20, have >> 20);
  }
  KAPITSA_ASSIGN(parts.model, model::Model::load(checkpoint, *parts.backend, options.progress));
  const auto tokens = static_cast<int64_t>(parts.tokenizer->vocab_size());
  if (const int64_t rows = parts.model->config().vocabulary; tokens > rows) {
    spdlog::warn("{}: the tokenizer has {} tokens and the model {}: texts that need the others will be refused",
                 options.path, tokens, rows);
  }
  parts.max_batch = std::clamp(options.max_batch, 1, backend::kMaxDecodeRows);
  KAPITSA_ASSIGN(const Plan plan, plan_cache(parts.model->graph(), {.path = options.path,
                                                                    .memory = memory,
                                                                    .weights = parts.model->weight_bytes(),
                                                                    .own_context = parts.model->config().context,
                                                                    .asked_context = options.context,
                                                                    .max_batch = parts.max_batch,
                                                                    .chunk = Scheduler::kPrefillAlone,
                                                                    .kv = options.kv}));
  parts.info.context = plan.context;
  KAPITSA_ASSIGN(parts.executor, Executor::make(*parts.backend, *parts.model, {.cache = plan.cache, .max_outputs = 1}));
  KAPITSA_RETURN_IF_ERROR(parts.executor->prepare(Scheduler::kPrefillAlone));
  parts.info.id = options.id.empty() ? name_of(options.path) : options.id;
  parts.info.architecture = parts.model->config().architecture;
  parts.info.created = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  parts.info.sampling = recommended_sampling(*checkpoint).value_or(options.sampling.value_or(default_sampling()));
  parts.info.can_think = parts.chat_template && parts.chat_template->mentions("enable_thinking");
  return std::unique_ptr<Engine>(std::make_unique<Scheduler>(std::move(parts)));
}

}  // namespace kapitsa::engine

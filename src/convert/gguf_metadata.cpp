#include "convert/gguf_metadata.h"

#include <filesystem>

#include "base/file_map.h"
#include "engine/load.h"
#include "text/token/gguf_export.h"

namespace kapitsa::convert {
namespace {

using weights::Metadata;

// general.file_type: a number for people's tools, which nobody computes with.
int64_t file_type(std::string_view type) {
  struct Known {
    std::string_view name;
    int64_t number;
  };
  constexpr Known kKnown[] = {{"F32", 0},     {"F16", 1},     {"Q4_0", 2},    {"Q4_1", 3},    {"Q8_0", 7},   {"Q5_0", 8},   {"Q5_1", 9},
                              {"Q2_K", 10},   {"Q2_K_M", 10}, {"Q3_K", 12},   {"Q3_K_M", 12}, {"Q4_K", 14},  {"Q4_K_M", 15},
                              {"Q5_K", 16},   {"Q5_K_M", 17}, {"Q6_K", 18},   {"IQ4_NL", 25}, {"IQ4_XS", 30}, {"IQ4_XS_M", 30},
                              {"BF16", 32},   {"TQ1_0", 36},  {"TQ2_0", 37},  {"MXFP4", 38},  {"NVFP4", 39}};
  for (const Known& known : kKnown) {
    if (known.name == type) return known.number;
  }
  return 1024;  // "guessed"
}

std::string name_of(const weights::Checkpoint& checkpoint) {
  const auto folder = std::filesystem::path(checkpoint.path).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

void set_sampling(const Json& config, Metadata& out) {
  if (!config.is_object()) return;
  struct Pair {
    const char *json, *gguf;
  };
  for (const auto& [json, gguf] : {Pair{"temperature", "general.sampling.temp"}, Pair{"top_p", "general.sampling.top_p"},
                                   Pair{"min_p", "general.sampling.min_p"}, Pair{"repetition_penalty", "general.sampling.penalty_repeat"}}) {
    if (const auto it = config.find(json); it != config.end() && it->is_number()) out.set(gguf, it->get<double>());
  }
  if (const auto it = config.find("top_k"); it != config.end() && it->is_number_integer()) out.set("general.sampling.top_k", it->get<int64_t>());
}

Status set_tokenizer(const weights::Checkpoint& checkpoint, int64_t rows, const std::string& pre, Metadata& out) {
  const std::string& path = checkpoint.tokenizer_json_path;
  KAPITSA_ASSIGN(const std::string bytes, read_file(path, size_t{256} << 20));
  KAPITSA_ASSIGN(const Json json, parse_json(bytes, path));
  KAPITSA_ASSIGN(const auto loaded, engine::load_tokenizer(checkpoint));
  KAPITSA_ASSIGN(const Metadata keys, text::gguf_tokenizer_keys(json, checkpoint.tokenizer_config, *loaded, rows, pre));
  for (const auto& [key, value] : keys) out.set(key, value);
  return {};
}

int64_t vocabulary_of(const model::GgufForm& form) {
  for (const auto& tensor : form.tensors) {
    if (tensor.kind == model::GgufTensor::Kind::kEmbedding || tensor.name == "token_embd.weight") return tensor.shape[0];
  }
  return 0;
}

}  // namespace

Result<Metadata> gguf_metadata(const weights::Checkpoint& checkpoint, const model::GgufForm& form, const std::string& type,
                               const std::string& pre, std::vector<std::string>& notes) {
  Metadata out = form.metadata;
  out.set("general.architecture", form.architecture);
  out.set("general.file_type", file_type(type));
  out.set("general.quantization_version", int64_t{2});
  if (checkpoint.container == weights::Container::gguf) return out;
  out.set("general.type", std::string("model"));
  out.set("general.name", name_of(checkpoint));
  set_sampling(checkpoint.generation_config, out);
  if (!checkpoint.chat_template.empty()) out.set("tokenizer.chat_template", checkpoint.chat_template);
  if (checkpoint.tokenizer_json_path.empty()) {
    notes.push_back("there is no tokenizer.json: the result has no tokenizer and cannot be run on text");
    out.set("tokenizer.ggml.model", std::string("none"));
  } else KAPITSA_RETURN_IF_ERROR(set_tokenizer(checkpoint, vocabulary_of(form), pre, out));
  return out;
}

}  // namespace kapitsa::convert

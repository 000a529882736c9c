// `kapitsa show`: what a model is, and what it takes.
#include <fmt/format.h>

#include <memory>

#include "app/command.h"
#include "app/model_facts.h"
#include "app/open_model.h"
#include "app/sampling_options.h"
#include "app/terminal.h"
#include "base/machine.h"
#include "base/plain_text.h"
#include "engine/load.h"
#include "hub/human_bytes.h"

namespace kapitsa::app {
namespace {

struct Options {
  std::string model;
  bool json = false;
  int64_t context = 0;
};

struct Shown {
  hub::ModelFiles files;
  std::string container;
  ModelFacts facts;
  std::vector<int64_t> contexts;
  uint64_t physical = 0;
  std::string tokenizer, tokenizer_fault;
  std::string bos;
  std::vector<std::string> eos;
  bool has_template = false, thinks = false, tools = false;
  std::string template_fault;
  engine::Sampling sampling;
  std::string sampling_from;
};

// The context lengths that people ask about, up to the model's own.
std::vector<int64_t> context_lengths(const ModelFacts& facts, int64_t wanted) {
  if (wanted > 0) return {wanted};
  std::vector<int64_t> lengths;
  for (int64_t tokens : {4096, 32768, 131072}) {
    if (!facts.context || tokens < *facts.context) lengths.push_back(tokens);
  }
  if (facts.context) lengths.push_back(*facts.context);
  return lengths;
}

std::string spelled(const text::Tokenizer& tokenizer, text::TokenId id) {
  return fmt::format("{} ({})", without_controls(tokenizer.piece(id)), id);
}

void read_text_facts(const weights::Checkpoint& checkpoint, Shown& shown) {
  if (const auto tokenizer = engine::load_tokenizer(checkpoint); tokenizer.ok()) {
    const text::Tokenizer& t = **tokenizer;
    shown.tokenizer = t.description;
    if (t.bos) shown.bos = spelled(t, *t.bos) + (t.add_bos ? ", added before raw text" : "");
    for (const auto id : t.eos) shown.eos.push_back(spelled(t, id));
  } else {
    shown.tokenizer_fault = tokenizer.message();
  }
  shown.has_template = !checkpoint.chat_template.empty();
  if (!shown.has_template) return;
  if (const auto compiled = text::ChatTemplate::compile(checkpoint.chat_template); compiled.ok()) {
    shown.thinks = (*compiled)->mentions("enable_thinking");
    shown.tools = (*compiled)->mentions("tools");
  } else {
    shown.template_fault = compiled.message();
  }
}

Result<Shown> look_at(const Options& options, const Globals& globals) {
  Shown shown;
  KAPITSA_ASSIGN(shown.files, find_model(options.model, hub::Download::kNever, globals));
  KAPITSA_ASSIGN(const auto checkpoint, weights::Checkpoint::open(shown.files.path));
  shown.container = checkpoint.container == weights::Container::gguf ? "GGUF" : "safetensors";
  shown.facts = read_facts(checkpoint);
  read_outline(checkpoint, shown.facts);
  shown.contexts = context_lengths(shown.facts, options.context);
  shown.physical = memory_limit();
  read_text_facts(checkpoint, shown);
  const auto files = engine::recommended_sampling(checkpoint);
  const auto catalogue =
      shown.files.entry ? sampling_from_json(shown.files.entry->sampling) : std::nullopt;
  shown.sampling = files ? *files : catalogue.value_or(engine::default_sampling());
  shown.sampling_from = files       ? "the model's files"
                        : catalogue ? "the catalogue; the model's files say nothing"
                                    : "Kapitsa's default; nothing is recommended";
  return shown;
}

std::string big(int64_t n) {
  if (n >= 1000000000) return fmt::format("{:.2f} B", static_cast<double>(n) / 1e9);
  if (n >= 1000000) return fmt::format("{:.1f} M", static_cast<double>(n) / 1e6);
  return fmt::format("{}", n);
}

std::string formats_of(const TensorClass& t) {
  std::string text;
  for (const auto& [format, bytes] : t.formats) text += (text.empty() ? "" : ", ") + format;
  return text;
}

std::string shape_of(const ModelFacts& f) {
  std::string text;
  const auto add = [&](const char* format, std::optional<int64_t> n) {
    if (n) text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(format), *n);
  };
  add("{} layers", f.layers);
  add("hidden {}", f.hidden);
  add("{} heads", f.heads);
  add("{} for keys and values", f.kv_heads);
  add("head size {}", f.head_dim);
  add("MLP {}", f.intermediate);
  add("{} experts", f.experts);
  add("{} of them a token", f.experts ? f.experts_used : std::nullopt);
  add("vocabulary {}", f.vocabulary);
  return text;
}

// What the layers remember with, where that is not plain attention in all of them.
std::string kinds_of(const ModelFacts& f) {
  if (!f.graph) return "";
  std::string text;
  for (const backend::KvGroup& group : f.graph->kv_groups()) {
    const std::string window = group.window > 0 ? fmt::format(" in a window of {}", group.window) : "";
    text += fmt::format("{}{} attention{}", text.empty() ? "" : ", ", group.layers.size(), window);
  }
  // Each recurrent layer has two states: of its convolution, and its memory.
  if (const size_t states = f.graph->states().size(); states > 0) {
    text += fmt::format("{}{} recurrent", text.empty() ? "" : ", ", states / 2);
  }
  const bool plain = f.graph->states().empty() && f.graph->kv_groups().size() == 1 && f.graph->kv_groups()[0].window == 0;
  return plain ? "" : text;
}

std::string text_of(const Shown& s) {
  std::string out;
  const auto line = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<14}{}\n", name, without_controls(text));
  };
  const ModelFacts& f = s.facts;
  out += fmt::format("{}\n", without_controls(s.files.name));
  line("file",
       fmt::format("{} ({}, {})", s.files.path, s.container, hub::human_bytes(f.file_bytes)));
  line("name", f.title);
  line("architecture", (f.architecture.empty() ? "not stated" : f.architecture) +
                           (f.runs ? "" : ": this build cannot run it"));
  line("parameters", fmt::format("{}, {:.2f} bits a weight", big(f.all.parameters), f.all.bits()));
  line("shape", shape_of(f));
  line("layers", kinds_of(f));
  line("context", f.context ? fmt::format("{} tokens", *f.context) : "not stated");
  if (f.unread > 0) {
    line("not read", fmt::format("{} tensors in a type that this build does not read ({})",
                                 f.unread, f.unread_type));
  }

  out += fmt::format("\n  {:<14}{:>12}{:>12}{:>8}  {}\n", "tensors", "parameters", "size", "bits",
                     "formats");
  for (const TensorClass& t : f.classes) {
    out += fmt::format("  {:<14}{:>12}{:>12}{:>8.2f}  {}\n", t.name, big(t.parameters),
                       hub::human_bytes(t.bytes), t.bits(), formats_of(t));
  }

  out += "\n";
  if (!f.graph) {
    line("memory", "not known: " + f.fault);
  } else {
    out += fmt::format("  {:<14}{:>12}{:>12}{:>12}{:>12}\n", "memory at", "weights", "cache",
                       "scratch", "total");
    for (const int64_t tokens : s.contexts) {
      const uint64_t cache = f.cache_bytes(tokens), total = f.memory(tokens);
      out += fmt::format(
          "  {:<14}{:>12}{:>12}{:>12}{:>12}{}\n", tokens, hub::human_bytes(f.all.bytes),
          hub::human_bytes(cache), "~" + hub::human_bytes(f.scratch_bytes()), hub::human_bytes(total),
          s.physical > 0 && total > s.physical ? "  more than this machine has" : "");
    }
  }

  out += "\n";
  line("tokenizer", s.tokenizer_fault.empty() ? s.tokenizer : s.tokenizer_fault);
  line("BOS", s.bos);
  line("ends with", fmt::format("{}", fmt::join(s.eos, ", ")));
  line("template",
       !s.has_template ? "none: run it with --raw"
       : !s.template_fault.empty()
           ? s.template_fault
           : fmt::format("{}, {}", s.thinks ? "with a thinking switch" : "no thinking switch",
                         s.tools ? "takes tools" : "no tools"));
  line("sampling", to_text(s.sampling) + " (" + s.sampling_from + ")");
  return out;
}

Json class_json(const TensorClass& t) {
  Json json = {{"class", t.name},  {"tensors", t.tensors},        {"parameters", t.parameters},
               {"bytes", t.bytes}, {"bits_per_weight", t.bits()}, {"formats", Json::object()}};
  for (const auto& [format, bytes] : t.formats) json["formats"][format] = bytes;
  return json;
}

template <class T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
Json maybe(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json json_of(const Shown& s) {
  const ModelFacts& f = s.facts;
  Json json;
  json["name"] = s.files.name;
  json["path"] = s.files.path;
  json["container"] = s.container;
  json["file_bytes"] = f.file_bytes;
  json["title"] = maybe(f.title);
  json["architecture"] = maybe(f.architecture);
  json["runs_in_this_build"] = f.runs;
  json["parameters"] = f.all.parameters;
  json["bits_per_weight"] = f.all.bits();
  json["layers"] = maybe(f.layers);
  json["hidden"] = maybe(f.hidden);
  json["heads"] = maybe(f.heads);
  json["kv_heads"] = maybe(f.kv_heads);
  json["head_dim"] = maybe(f.head_dim);
  json["intermediate"] = maybe(f.intermediate);
  json["vocabulary"] = maybe(f.vocabulary);
  json["context"] = maybe(f.context);
  json["tensors"] = Json::array();
  for (const TensorClass& t : f.classes) json["tensors"].push_back(class_json(t));
  json["tensors_not_read"] = f.unread;
  json["memory"] = Json::array();
  for (const int64_t tokens : s.contexts) {
    if (!f.graph) continue;
    json["memory"].push_back({{"context", tokens},
                              {"weights", f.all.bytes},
                              {"cache", f.cache_bytes(tokens)},
                              {"scratch", f.scratch_bytes()},
                              {"total", f.memory(tokens)}});
  }
  json["tokenizer"] = maybe(s.tokenizer);
  json["tokenizer_error"] = maybe(s.tokenizer_fault);
  json["bos"] = maybe(s.bos);
  json["eos"] = s.eos;
  json["template"] = {{"present", s.has_template},
                      {"thinking_switch", s.thinks},
                      {"tools", s.tools},
                      {"error", maybe(s.template_fault)}};
  json["sampling"] = to_json(s.sampling);
  json["sampling_from"] = s.sampling_from;
  return json;
}

}  // namespace

void add_show(CLI::App& root, Run& run, const Globals& globals) {
  auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand("show", "Show what a model is and what it takes");
  command
      ->add_option("model", options->model,
                   "An alias, a GGUF file, a Hugging Face folder or a hub id")
      ->required();
  command->add_flag("--json", options->json, "As JSON");
  command
      ->add_option("--ctx", options->context,
                   "The context length to show the memory of; default: several")
      ->check(CLI::Range(1, 1 << 30));
  command->callback([options, &run, &globals] {
    run = [options, &globals] {
      const auto shown = look_at(*options, globals);
      if (!shown.ok()) return fail(shown.status());
      put(options->json ? json_of(*shown).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                        : text_of(*shown));
      const Status status = output_status();
      return status.ok() ? 0 : fail(status);
    };
  });
}

}  // namespace kapitsa::app

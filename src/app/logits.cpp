// `kapitsa logits`: what a model computes, for people who check an engine. Runs the executor
// itself: no scheduler, no sampler.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "app/command.h"
#include "app/load_progress.h"
#include "app/model_facts.h"
#include "app/open_model.h"
#include "app/terminal.h"
#include "app/token_list.h"
#include "base/say.h"
#include "engine/executor.h"
#include "engine/plan.h"
#include "weights/safetensors_writer.h"

namespace kapitsa::app {
namespace {

struct Options {
  std::string model, tokens, out;
  bool hidden = false;
  std::string kv = "f16", compute = "default";
  int chunk = 64;
  backend::Options backend;
};

Status check_tokens(const std::vector<int32_t>& tokens, int64_t vocabulary, int64_t context) {
  for (const int32_t token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    return error(Code::kInvalid, "token {} is outside the vocabulary of {} tokens", token, vocabulary);
  }
  if (context > 0 && tokens.size() > static_cast<size_t>(context)) {
    return error(Code::kInvalid, "{} tokens are more than the model's context of {}", tokens.size(),
                 context);
  }
  return {};
}

// Tensor 0 is the logits, tensor 1 + i is tap i.
Result<weights::SafetensorsWriter> begin_file(const Options& options, const model::Model& model,
                                              int64_t rows) {
  std::vector<weights::SafetensorsWriter::Declared> tensors = {
      {"logits", {rows, model.config().vocabulary}}};
  if (options.hidden) {
    const auto& taps = model.graph().taps();
    for (size_t i = 0; i < taps.size(); ++i) {
      tensors.push_back({fmt::format("hidden.{}", i), {rows, taps[i].value.width}});
    }
  }
  return weights::SafetensorsWriter::create(options.out, tensors);
}

Status compute(const Options& options, const model::Model& model, engine::Executor& executor,
               std::span<const int32_t> tokens, const std::function<void(double)>& progress) {
  KAPITSA_ASSIGN(auto file, begin_file(options, model, static_cast<int64_t>(tokens.size())));
  engine::Sequence sequence(executor.pools());
  const size_t taps = options.hidden ? model.graph().taps().size() : 0;
  const auto chunk = static_cast<size_t>(options.chunk);
  int64_t broken = 0;
  for (size_t at = 0; at < tokens.size(); at += chunk) {
    const auto part = tokens.subspan(at, std::min(chunk, tokens.size() - at));
    const auto rows = static_cast<int>(part.size());
    const engine::Span span{&sequence, part, rows};
    KAPITSA_RETURN_IF_ERROR(executor.run(std::span(&span, 1)));
    const auto first = static_cast<int64_t>(at);
    for (int r = 0; r < rows; ++r) {
      const auto logits = executor.logits(r);
      broken += std::count_if(logits.begin(), logits.end(), [](float x) { return !std::isfinite(x); });
      KAPITSA_RETURN_IF_ERROR(
          file.write(0, (first + r) * static_cast<int64_t>(logits.size()), logits));
      for (size_t i = 0; i < taps; ++i) {
        const auto state = executor.tap(static_cast<int>(i), r);
        KAPITSA_RETURN_IF_ERROR(
            file.write(1 + i, (first + r) * static_cast<int64_t>(state.size()), state));
      }
    }
    progress(static_cast<double>(at + part.size()) / static_cast<double>(tokens.size()));
  }
  KAPITSA_RETURN_IF_ERROR(file.finish());
  if (broken == 0) return {};
  return error(Code::kCorrupt, "{} of the logits are not finite, the weights are damaged; {} was written all the same",
               broken, options.out);
}

Status run_logits(Options options, const Globals& globals) {
  KAPITSA_ASSIGN(const auto tokens, read_tokens(options.tokens, globals));
  KAPITSA_ASSIGN(const auto files, find_model(options.model, hub::Download::kIfMissing, globals));
  options.backend.compute =
      options.compute == "f32" ? backend::Compute::kFloat32 : backend::Compute::kDefault;
  KAPITSA_ASSIGN(const auto backend, backend::make(options.backend));
  KAPITSA_ASSIGN(auto checkpoint, weights::Checkpoint::open(files.path));
  std::error_code missing;
  if (checkpoint.holds(options.out) || std::filesystem::equivalent(options.out, options.tokens, missing)) {
    return error(Code::kInvalid, "--out {}: that is a file of the input, and would be lost", options.out);
  }
  // Before the weights are packed, as far as the files' headers say; what they leave open, after.
  constexpr auto kOpen = std::numeric_limits<int64_t>::max();
  const ModelFacts facts = read_facts(checkpoint);
  KAPITSA_RETURN_IF_ERROR(
      check_tokens(tokens, facts.vocabulary.value_or(kOpen), facts.context.value_or(0)));
  LoadProgress loading("loading " + files.name, !globals.quiet);
  KAPITSA_ASSIGN(
      const auto model,
      model::Model::load(std::make_shared<const weights::Checkpoint>(std::move(checkpoint)),
                         *backend, [&](double share) { loading.update(share); }));
  loading.finish();
  KAPITSA_RETURN_IF_ERROR(
      check_tokens(tokens, model->config().vocabulary, model->config().context));
  const engine::Executor::Options layout{
      .cache = engine::shape_for(model->graph(), options.kv == "f32" ? backend::KvType::kF32 : backend::KvType::kF16,
                                 static_cast<int>(tokens.size()), 1),
      .max_outputs = options.chunk,
      .taps = options.hidden};
  KAPITSA_ASSIGN(const auto executor, engine::Executor::make(*backend, *model, layout));
  LoadProgress computing(fmt::format("computing {} tokens", tokens.size()), !globals.quiet);
  KAPITSA_RETURN_IF_ERROR(
      compute(options, *model, *executor, tokens, [&](double share) { computing.update(share); }));
  computing.finish();
  if (!globals.quiet) {
    say("{}: logits [{}, {}]{}\n", options.out, tokens.size(), model->config().vocabulary,
        options.hidden ? fmt::format(" and {} hidden states", model->graph().taps().size()) : "");
  }
  return {};
}

}  // namespace

void add_logits(CLI::App& root, Run& run, const Globals& globals) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      root.add_subcommand("logits", "Write the logits of a list of tokens, to check the engine");
  command
      ->add_option("model", options->model,
                   "An alias, a GGUF file, a Hugging Face folder or a hub id")
      ->required();
  command
      ->add_option(
          "--tokens", options->tokens,
          "\"1,2,3\", a text file of ids, - for stdin, or a .safetensors file with int32 `tokens`")
      ->required();
  command
      ->add_option("--out", options->out,
                   "The .safetensors file to write: `logits` [T, V], float32")
      ->required();
  command->add_flag("--hidden", options->hidden,
                    "Also `hidden.i` [T, H]: 0 is the embedding, i the residual stream after layer "
                    "i, the last one is what the final norm makes of it");
  command->add_option("--kv", options->kv, "How keys and values are kept")
      ->capture_default_str()
      ->check(CLI::IsMember({"f16", "f32"}));
  command
      ->add_option("--compute", options->compute, "f32: weights decoded, every product in float32")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "f32"}));
  command
      ->add_option("--chunk", options->chunk,
                   "Tokens a step; the result's bits do not depend on it")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command->add_option("--backend", options->backend.name,
                      "Where to compute; default: the best one here");
  command
      ->add_option("--threads", options->backend.threads,
                   "CPU threads; default: one a physical core")
      ->check(CLI::Range(1, 1024));
  command->callback([options, &run, &globals] {
    run = [options, &globals] {
      const Status status = run_logits(*options, globals);
      return status.ok() ? 0 : fail(status);
    };
  });
}

}  // namespace kapitsa::app

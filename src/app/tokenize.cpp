// `kapitsa tokenize`: text -> token ids and pieces.
#include <fmt/format.h>

#include <memory>

#include "app/command.h"
#include "app/conversation.h"
#include "app/open_model.h"
#include "app/standard_input.h"
#include "app/terminal.h"
#include "base/json.h"
#include "base/say.h"
#include "engine/load.h"
#include "text/prompt.h"
#include "text/unicode/utf8.h"

namespace kapitsa::app {
namespace {

struct Options {
  std::string model, text, system;
  bool has_text = false;
  bool ids = false, json = false, use_template = false, trusted = false, bos = false;
};

Result<std::vector<text::TokenId>> encode(const Options& options,
                                          const weights::Checkpoint& checkpoint,
                                          const text::Tokenizer& tokenizer,
                                          const std::string& text) {
  if (!options.use_template)
    return text::make_raw_prompt(tokenizer, text, options.trusted, options.bos);
  if (checkpoint.chat_template.empty()) {
    return error(Code::kUnsupported, "{} has no chat template: leave --template out",
                 options.model);
  }
  auto compiled = text::ChatTemplate::compile(checkpoint.chat_template);
  if (!compiled.ok()) return compiled.status();
  text::TemplateInput input;
  input.cancel = Cancel::within(kPreparation);
  if (!options.system.empty())
    input.messages.push_back({{"role", "system"}, {"content", options.system}});
  input.messages.push_back({{"role", "user"}, {"content", text}});
  KAPITSA_ASSIGN(text::Prompt prompt,
                 text::make_prompt(compiled->get(), tokenizer, std::move(input)));
  return prompt.tokens;
}

// A piece as JSON text: quotes, line feeds and bytes that are no UTF-8 show.
std::string as_text(const std::string& bytes) {
  if (!text::find_invalid_utf8(bytes)) return Json(bytes).dump();
  std::string out = "bytes";
  for (const char c : bytes) out += fmt::format(" {:02X}", static_cast<unsigned char>(c));
  return out;
}

void print(const Options& options, const text::Tokenizer& tokenizer,
           const std::vector<text::TokenId>& ids) {
  if (options.ids) {
    put(fmt::format("{}\n", fmt::join(ids, ",")));
  } else if (options.json) {
    Json json;
    json["ids"] = ids;
    json["pieces"] = Json::array();
    for (const auto id : ids) json["pieces"].push_back(tokenizer.piece(id));
    put(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } else {
    std::string table;
    for (const auto id : ids) {
      table += fmt::format("{:>7}  {}{}\n", id, as_text(tokenizer.bytes(id)),
                           tokenizer.is_special(id) ? "  special" : "");
    }
    put(table);
    say("{} token{}\n", ids.size(), ids.size() == 1 ? "" : "s");
  }
}

Status run_tokenize(const Options& options, const Globals& globals) {
  std::string text = options.text;
  if (!options.has_text) {
    KAPITSA_ASSIGN(text, read_standard_input(globals));
  }
  KAPITSA_ASSIGN(const auto files, find_model(options.model, hub::Download::kNever, globals));
  KAPITSA_ASSIGN(const auto checkpoint, weights::Checkpoint::open(files.path));
  KAPITSA_ASSIGN(const auto tokenizer, engine::load_tokenizer(checkpoint));
  KAPITSA_ASSIGN(const auto ids, encode(options, checkpoint, *tokenizer, text));
  print(options, *tokenizer, ids);
  return output_status();
}

}  // namespace

void add_tokenize(CLI::App& root, Run& run, const Globals& globals) {
  auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand("tokenize", "Show the tokens of a text");
  command
      ->add_option("model", options->model,
                   "An alias, a GGUF file, a Hugging Face folder or a hub id")
      ->required();
  CLI::Option* text =
      command->add_option("text", options->text, "The text; without it: standard input, as it is");
  CLI::Option* ids = command->add_flag("--ids", options->ids, "Only the ids, on one line: 1,2,3");
  command
      ->add_flag("--json", options->json, "As JSON: ids, and pieces as the vocabulary spells them")
      ->excludes(ids);
  CLI::Option* use_template = command->add_flag("--template", options->use_template,
                                                "As a user's message in the model's chat template");
  command->add_option("--system", options->system, "With --template: the system text before it")
      ->needs(use_template);
  command
      ->add_flag("--trusted", options->trusted,
                 "Spellings of special tokens become those tokens (a user's text never does)")
      ->excludes(use_template);
  command->add_flag("--bos", options->bos, "Begin with BOS where the model's files ask for it")
      ->excludes(use_template);
  command->callback([options, text, &run, &globals] {
    options->has_text = text->count() > 0;
    run = [options, &globals] {
      const Status status = run_tokenize(*options, globals);
      return status.ok() ? 0 : fail(status);
    };
  });
}

}  // namespace kapitsa::app

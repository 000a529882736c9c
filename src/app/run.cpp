// `kapitsa run`: one question, or a chat.
#include <fmt/format.h>

#include <memory>

#include "app/chat.h"
#include "app/command.h"
#include "app/conversation.h"
#include "app/open_model.h"
#include "app/run_options.h"
#include "app/standard_input.h"
#include "app/terminal.h"
#include "app/turn.h"
#include "base/say.h"

namespace kapitsa::app {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void print_json(const Answer& answer, const engine::Engine& engine,
                const engine::Sampling& sampling) {
  Json json;
  json["model"] = engine.info().id;
  json["text"] = answer.text;
  if (!answer.reasoning.empty()) json["reasoning"] = answer.reasoning;
  json["finish_reason"] = name(answer.finish);
  json["seed"] = sampling.seed;
  json["sampling"] = to_json(sampling);
  json["statistics"] = statistics_json(answer);
  put(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int run_once(const RunOptions& options, std::string prompt, const Globals& globals) {
  auto engine = open_engine(options.model, {options.context, options.threads, 1, options.memory}, globals);
  if (!engine.ok()) return fail(engine.status());
  Conversation conversation(options.raw);
  conversation.system = options.system;
  conversation.think = options.think;
  conversation.user(std::move(prompt));
  note_idle_switch(options.think, **engine, globals);
  auto made = conversation.prompt(**engine);
  if (!made.ok()) return fail(made.status());

  engine::Request request;
  request.prompt = std::move(made->tokens);
  request.max_tokens = options.max_tokens;
  request.sampling = options.sampling.over((*engine)->info().sampling);
  const engine::Sampling sampling = request.sampling;
  const bool terminal = is_terminal(stdout);
  AnswerPrinter printer(terminal, has_colours(stdout), terminal);
  Interrupt interrupt;
  if (globals.verbosity > 0) say("seed {}; {}\n", sampling.seed, to_text(sampling));
  if (options.json) printer.mute();
  auto answer =
      ask(**engine, std::move(request), {!options.raw, made->opens_reasoning}, printer, interrupt);
  if (!answer.ok()) return fail(answer.status());
  if (options.json) print_json(*answer, **engine, sampling);
  if (options.statistics && !globals.quiet) {
    const bool dim = has_colours(stderr);
    say("{}{}{}\n", dim ? kDim : "", statistics(*answer), dim ? kPlain : "");
  }
  return answer->interrupted ? 130 : 0;
}

int run_model(const RunOptions& options, const Globals& globals) {
  std::string prompt = joined(options.prompt);
  if (is_terminal(stdin)) {
    if (options.has_prompt) return run_once(options, std::move(prompt), globals);
    if (options.json) {
      say(
                 "kapitsa: --json needs a prompt, on the command line or on standard input\n");
      return 2;
    }
    if (!is_terminal(stdout)) {
      say(
                 "kapitsa: a chat needs a terminal to write to as well: give a prompt instead\n");
      return 2;
    }
    return chat(options, globals);
  }
  auto piped = read_standard_input(globals);
  if (!piped.ok()) return fail(piped.status());
  if (!options.has_prompt && piped->empty()) {
    say("kapitsa: there is no prompt, and standard input is empty: give a prompt, or run it on a "
        "terminal for a chat\n");
    return 2;
  }
  if (!options.raw && !prompt.empty() && !piped->empty()) prompt += "\n\n";
  return run_once(options, prompt + *piped, globals);
}

}  // namespace

void add_run(CLI::App& root, Run& run, const Globals& globals) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = root.add_subcommand("run", "Ask a model, or chat with it");
  command
      ->add_option("model", options->model,
                   "An alias, a GGUF file, a Hugging Face folder or a hub id")
      ->required();
  CLI::Option* prompt = command->add_option(
      "prompt", options->prompt,
      "The question; without one, on a terminal: a chat. Piped text follows after it");
  command->add_option("--system", options->system, "System text: what the model is told first");
  command
      ->add_option("--ctx", options->context,
                   "Tokens of context; default: the model's own, or what memory holds")
      ->check(CLI::Range(1, 1 << 30));
  command
      ->add_option("-n,--max-tokens", options->max_tokens, "Tokens that an answer may have at most")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command->add_option("--memory", options->memory, "What weights and context may take, as 16G; default: what the machine has")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--threads", options->threads, "CPU threads; default: one a physical core")
      ->check(CLI::Range(1, 1024));
  CLI::Option* raw =
      command->add_flag("--raw", options->raw,
                        "No chat template: the model goes on with the text as it stands, special "
                        "tokens spelled in it included");
  raw->excludes(command->get_option("--system"));
  command
      ->add_flag_callback(
          "--think", [options] { options->think = true; }, "Let the model think before it answers")
      ->excludes(raw);
  command
      ->add_flag_callback(
          "--no-think", [options] { options->think = false; }, "Ask it not to")
      ->excludes(raw)
      ->excludes(command->get_option("--think"));
  command
      ->add_flag_callback(
          "--no-stats", [options] { options->statistics = false; },
          "No line about speed under each answer (on stderr)")
      ->excludes(command->add_flag_callback(
          "--stats", [options] { options->statistics = true; },
          "The opposite, which is the default"));
  command->add_flag("--json", options->json,
                    "One JSON object with the answer and its statistics, at the end");
  options->sampling.add_to(*command);
  command->footer(
      "Thoughts (<think>) are shown dim on a terminal and left out where stdout is a pipe or a "
      "file.\n"
      "Put -- before a prompt that begins with a dash. Exit codes: 0 answered, 1 failed, 2 wrong "
      "use,\n"
      "130 stopped by Ctrl-C.");
  command->callback([options, prompt, &run, &globals] {
    options->has_prompt = prompt->count() > 0;
    run = [options, &globals] { return run_model(*options, globals); };
  });
}

}  // namespace kapitsa::app

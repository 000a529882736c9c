#include "app/completion.h"

#include <fmt/format.h>

#include <memory>

#include "app/command.h"
#include "app/terminal.h"

namespace kapitsa::app {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

struct Flag {
  std::string name;  // with its dashes
  std::string description;
  bool takes_value;
};

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const bool takes_value = option->get_items_expected_max() > 0;
    for (const std::string& name : option->get_snames())
      flags.push_back({"-" + name, option->get_description(), takes_value});
    for (const std::string& name : option->get_lnames())
      flags.push_back({"--" + name, option->get_description(), takes_value});
  }
  return flags;
}

std::string names(const std::vector<Flag>& flags) {
  std::string text;
  for (const Flag& flag : flags) text += (text.empty() ? "" : " ") + flag.name;
  return text;
}

// For single quotes of a shell; in zsh's _arguments brackets and colons mean something too.
std::string escaped(const std::string& text, std::string_view special = "") {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (special.find(c) != special.npos) out += '\\';
      out += c;
    }
  }
  return out;
}

bool takes_model(const CLI::App& command) {
  return command.get_option_no_throw("model") != nullptr ||
         command.get_option_no_throw("--model") != nullptr;
}

// The aliases of the catalogue and what was downloaded, asked for when they are needed.
constexpr std::string_view kModels = "$(kapitsa list --names 2>/dev/null)";

std::string bash(const CLI::App& root) {
  std::string words, cases;
  for (const CLI::App* command : commands_of(root)) {
    words += (words.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) flags='{}'; models={} ;;\n", command->get_name(),
                         names(flags_of(*command)), takes_model(*command) ? "yes" : "no");
  }
  return fmt::format(R"sh(# kapitsa completion for bash: source <(kapitsa completion bash)
_kapitsa() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command='' flags='{}' models=no i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}}; break; }}
  done
  case $command in
    '') COMPREPLY=($(compgen -W "{} $flags" -- "$word")); return ;;
{}    *) return ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
    [[ $models == yes ]] && COMPREPLY+=($(compgen -W "{}" -- "$word"))
  fi
}}
complete -o filenames -F _kapitsa kapitsa
)sh",
                     names(flags_of(root)), words, cases, kModels);
}

std::string zsh(const CLI::App& root) {
  std::string list, cases;
  for (const CLI::App* command : commands_of(root)) {
    list +=
        fmt::format("    '{}:{}'\n", command->get_name(), escaped(command->get_description(), ":"));
    cases += fmt::format("    {}) _arguments \\\n", command->get_name());
    for (const Flag& flag : flags_of(*command)) {
      cases += fmt::format("      '{}[{}]{}' \\\n", flag.name, escaped(flag.description, "[]:"),
                           flag.takes_value ? ":value:_files" : "");
    }
    cases += takes_model(*command) ? "      '*:model:_kapitsa_models' ;;\n"
                                   : "      '*:file:_files' ;;\n";
  }
  return fmt::format(R"sh(#compdef kapitsa
# kapitsa completion for zsh: source <(kapitsa completion zsh), or save it as _kapitsa in a folder of $fpath
_kapitsa_models() {{
  _alternative "models:model:({})" 'files:file:_files'
}}
_kapitsa() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _kapitsa kapitsa
)sh",
                     kModels, list, cases);
}

std::string fish(const CLI::App& root) {
  std::string out = "# kapitsa completion for fish: kapitsa completion fish | source\n";
  for (const CLI::App* command : commands_of(root)) {
    const std::string& name = command->get_name();
    out += fmt::format("complete -c kapitsa -n __fish_use_subcommand -a {} -d '{}'\n", name,
                       escaped(command->get_description()));
    for (const Flag& flag : flags_of(*command)) {
      const bool is_long = flag.name[1] == '-';
      out +=
          fmt::format("complete -c kapitsa -n '__fish_seen_subcommand_from {}' -{} {}{} -d '{}'\n",
                      name, is_long ? 'l' : 's', flag.name.substr(is_long ? 2 : 1),
                      flag.takes_value ? " -r" : "", escaped(flag.description));
    }
    if (takes_model(*command)) {
      out += fmt::format("complete -c kapitsa -n '__fish_seen_subcommand_from {}' -a '{}'\n", name,
                         "(kapitsa list --names 2>/dev/null)");
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(const CLI::App& root, std::string_view shell) {
  if (shell == "bash") return bash(root);
  if (shell == "zsh") return zsh(root);
  if (shell == "fish") return fish(root);
  return error(Code::kInvalid, "there is no completion for '{}'; there is for bash, zsh and fish",
               shell);
}

void add_completion(CLI::App& root, Run& run) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      root.add_subcommand("completion", "Print a completion script: bash, zsh or fish");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &root, &run] {
    run = [shell, &root] {
      const auto script = completion_script(root, *shell);
      if (!script.ok()) return fail(script.status());
      put(*script);
      return 0;
    };
  });
}

}  // namespace kapitsa::app

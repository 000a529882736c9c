#include "app/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <memory>
#include <system_error>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/open_model.h"
#include "app/serve.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/edit_distance.h"
#include "base/log.h"
#include "base/plain_text.h"
#include "base/say.h"

namespace kapitsa::app {
namespace {

// An option's names, what it takes, what it is for: who excludes whom is said when it happens.
class Help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return "";  // a flag
    std::string text =
        " " + (option->nonpositional() ? value_name(option->get_type_name()) : std::string());
    if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
    return text == " " ? "" : text;
  }

 private:
  // "FLOAT:0 to 2" is a NUMBER; members of a set stay.
  static std::string value_name(const std::string& type) {
    const size_t brace = type.find('{');
    if (brace != type.npos) return type.substr(brace);
    return type.substr(0, 4) == "TEXT" ? "TEXT" : "N";
  }
};

int wrong_use(const std::string& message, const std::string& help) {
  say("kapitsa: {}\nTry `kapitsa{} --help`.\n", one_line(message),
      help.empty() ? "" : " " + help);
  return 2;
}

// CLI11's messages as sentences of ours.
std::string lower_first(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

struct Program {
  CLI::App app{"Kapitsa runs language models on this machine."};
  Globals globals;
  Run run;
  int verbose = 0;
  bool version = false;

  Program() {
    app.name("kapitsa");
    app.formatter(std::make_shared<Help>());  // commands take it over
    app.require_subcommand(1);
    app.fallthrough();  // -v and -q may stand after the command
    app.set_help_flag("-h,--help", "Show help, of the program or of a command");
    app.add_flag("-v,--verbose", verbose, "Say more on stderr; twice: much more");
    app.add_flag("-q,--quiet", globals.quiet, "Errors only: no progress, statistics or notes");
    app.add_flag("--version", version, "Show version, backends and architectures");
    add_run(app, run, globals);
    add_serve(app, run, [this](const ServeModel& model) {
      return open_engine(model.model, {.context = model.context, .threads = model.threads, .memory = model.memory},
                         globals);
    });
    add_pull(app, run);
    add_list(app, run);
    add_show(app, run, globals);
    add_rm(app, run);
    add_tokenize(app, run, globals);
    add_logits(app, run, globals);
    add_quantize(app, run, globals);
    add_completion(app, run);
    app.footer(
        "kapitsa run smollm2 \"Why is the sky blue?\"   asks a small model a question.\n"
        "kapitsa COMMAND --help                      tells more about a command.");
  }

  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(command->get_name());
    }
    return names;
  }

  // The command that was named, as far as parsing came.
  std::string command() const {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  }

  int explain(const CLI::ParseError& fault) {
    if (fault.get_exit_code() == 0) {  // help was asked for
      const auto parsed = app.get_subcommands();
      put(parsed.empty() ? app.help() : parsed.front()->help("kapitsa"));
      return 0;
    }
    if (command().empty() && dynamic_cast<const CLI::RequiredError*>(&fault) != nullptr) {
      return wrong_use("no command was given", "");
    }
    const bool surplus = dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr;
    return wrong_use(
        lower_first(fault.what()) + (surplus && command() == "run"
                                         ? " (put -- before a prompt that begins with a dash)"
                                         : ""),
        command());
  }

  int main(int argc, char** argv) {
    // The command, if it is one, is the first word that is no option: known before parsing, so that
    // a wrong one is called that.
    const auto names = commands();
    const char* const* first =
        std::find_if(argv + 1, argv + argc, [](const char* word) { return *word != '-'; });
    if (first == argv + argc) {
      if (std::any_of(argv + 1, argv + argc,
                      [](std::string_view word) { return word == "--version"; })) {
        put(version_text());
        return 0;
      }
      if (argc == 1) {
        say("{}", app.help());
        return 2;
      }
    } else if (std::find(names.begin(), names.end(), *first) == names.end()) {
      const std::string near = nearest(*first, names);
      return wrong_use(fmt::format("there is no command '{}'{}", *first,
                                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                       "");
    }
    // CLI11 would give "--option=" the next word.
    for (const char* const* word = argv + 1; word != argv + argc && *word != std::string_view("--"); ++word) {
      const std::string_view text = *word;
      if (text.starts_with("--") && text.ends_with("=") && text.find('=') == text.size() - 1) {
        return wrong_use(fmt::format("{} has no value", text.substr(0, text.size() - 1)),
                         first == argv + argc ? "" : *first);
      }
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& fault) {
      return explain(fault);
    }
    globals.verbosity = verbose;
    init_logging(globals.quiet ? -1 : verbose);
    return run();
  }
};

}  // namespace

std::string nearest(std::string_view text, const std::vector<std::string>& words) {
  if (text.size() > 32) return "";
  std::string best;
  size_t least = text.size() < 4 ? 2 : 3;  // further away it is a guess
  for (const std::string& word : words) {
    const size_t distance = edit_distance(text, word);
    if (distance < least) {
      least = distance;
      best = word;
    }
  }
  if (!best.empty()) return best;
  const auto begins = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return text.size() >= 2 && word.substr(0, text.size()) == text;
  });
  return begins == words.end() ? "" : *begins;
}

// A closed standard stream would hand its number to the next file or socket that is opened, and our words to that.
static void fill_standard_streams() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) close(fd);
}

// glibc keeps what large requests gave back, for ever larger ones: above this size it shall not.
static void return_large_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int run_program(int argc, char** argv) {
  return_large_memory();
  fill_standard_streams();
  install_signals();
  int code = 1;
  try {
    Program program;
    code = program.main(argc, argv);
  } catch (const std::system_error& fault) {
    // A print to stdout that failed; anything else that throws this is as final.
    if (fault.code().value() == EPIPE) return 0;
    return fail(Status(Code::kInternal, fault.what()));
  } catch (const std::bad_alloc&) {
    return fail(Status(Code::kExhausted, "there is not enough memory"));
  } catch (const std::exception& fault) {
    return fail(error(Code::kInternal, "internal error: {}", fault.what()));
  }
  const Status written = output_status();
  return code != 0 || written.ok() ? code : fail(written);
}

}  // namespace kapitsa::app

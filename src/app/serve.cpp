#include "app/serve.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/server.h"
#include "app/terminal.h"
#include "base/say.h"
#include "net/server.h"

namespace kapitsa::app {
namespace {

struct Options {
  ServeModel model;
  ServeOptions serve;
  double drain_seconds = 30;
};

int fail(const Status& status, int code) {
  app::fail(status);
  return code;
}

void say_ready(const engine::ModelInfo& info, const std::string& url) {
  // stdout: scripts wait for this line.
  fmt::print("{} (context {}) is served at {}\n"
             "  OpenAI clients: base URL {}/v1    Anthropic clients: base URL {}    Ctrl-C ends\n",
             info.id, info.context, url, url, url);
  std::fflush(stdout);
}

int run_serve(Options options, const LoadEngine& load) {
  options.serve.net.drain =
      net::ServerOptions::Time(static_cast<int64_t>(options.drain_seconds * 1000));
  if (const Status status = check(options.serve); !status.ok()) return fail(status, 2);
  // A port that is taken is better known before a model is loaded than after.
  if (const auto probe = net::Server::bind(options.serve.net, {}); !probe.ok()) {
    return fail(probe.status(), 1);
  }
  const auto engine = load(options.model);
  if (!engine.ok()) return fail(engine.status(), 1);
  const Status status =
      serve(**engine, options.serve, [&](int port, const std::function<void()>&) {
        say_ready((*engine)->info(), url_of(options.serve.net.host, port));
      });
  return status.ok() ? 0 : fail(status, 1);
}

}  // namespace

void add_serve(CLI::App& root, std::function<int()>& run, LoadEngine load) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      root.add_subcommand("serve", "Serve a model to OpenAI and Anthropic clients over HTTP");
  // Not required(): that would ask for the positional one in the help, where -m works as well.
  command->add_option("-m,--model,model", options->model.model,
                      "An alias, a GGUF file, a Hugging Face folder or a hub id");
  command->add_option("--host", options->serve.net.host, "The address to listen on")
      ->capture_default_str();
  command->add_option("--port", options->serve.net.port, "The port; 0: any free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  CLI::Option* key =
      command->add_option("--api-key", options->serve.api_key, "The key that clients must send")
          ->envname("KAPITSA_API_KEY");
  command->add_option("--alias", options->serve.aliases,
                      "A further name that clients may use for the model (repeatable); '*': any name")
      ->delimiter(',');
  command->add_option("--ctx", options->model.context,
                      "Tokens that a request may hold; 0: the model's own")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--memory", options->model.memory, "What weights and context may take, as 16G; default: what the machine has")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--threads", options->model.threads, "CPU threads; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--insecure-public", options->serve.insecure_public,
                    "Let other machines in without a key");
  command->add_option("--allow-host", options->serve.allow_hosts,
                      "A further name by which clients reach this server (repeatable)");
  command->add_option("--allow-origin", options->serve.allow_origins,
                      "A web page's origin that may use this server (repeatable); '*': any");
  command->add_option("--drain", options->drain_seconds,
                      "Seconds that running requests get to finish in at the end")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  command->callback([options, key, load = std::move(load), &run] {
    if (key->count() > 0 && options->serve.api_key.empty()) {
      throw CLI::ValidationError("--api-key is empty: give a key, or leave it out");
    }
    const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
    if (!std::all_of(options->serve.api_key.begin(), options->serve.api_key.end(), printable)) {
      throw CLI::ValidationError("--api-key holds what no HTTP header can: letters, digits and signs of ASCII only");
    }
    if (options->serve.net.host.empty()) throw CLI::ValidationError("--host is empty");
    if (options->model.model.empty()) {
      throw CLI::ValidationError("no model was named: kapitsa serve MODEL, or --model MODEL");
    }
    run = [options, load] { return run_serve(*options, load); };
  });
}

}  // namespace kapitsa::app

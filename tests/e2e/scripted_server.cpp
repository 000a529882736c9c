// The whole server over a scripted engine: `scripted_server CONFIG.json`. Prints "port N", then
// "submit", "cancel" and "end" as the engine sees them. Ends when its stdin closes, so that no test
// leaves one behind.
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>

#include "app/server.h"
#include "base/file_map.h"
#include "base/json.h"
#include "tests/support/scripted_engine.h"

namespace {

using kapitsa::Code;
using kapitsa::Json;
using kapitsa::Status;
using kapitsa::test::Script;

void say(const std::string& line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::puts(line.c_str());
  std::fflush(stdout);
}

Status status_of(const Json& json) {
  if (json.is_null()) return {};
  const auto code = json["code"] == "unavailable" ? Code::kUnavailable
                    : json["code"] == "exhausted" ? Code::kExhausted
                                                  : Code::kInternal;
  return Status(code, json["message"].get<std::string>());
}

Script script_of(const Json& json) {
  Script out;
  out.match = json.value("match", "");
  if (json.contains("choices")) {
    out.choices = json["choices"].get<std::vector<std::vector<std::string>>>();
  }
  out.prefill = std::chrono::milliseconds(json.value("prefill_ms", 0));
  out.token = std::chrono::milliseconds(json.value("token_ms", 0));
  out.repeat = json.value("repeat", 1);
  out.endless = json.value("endless", false);
  out.refusal = status_of(json.value("refusal", Json()));
  out.failure = status_of(json.value("failure", Json()));
  return out;
}

void set_time(const Json& json, const char* name, kapitsa::net::ServerOptions::Time& time) {
  if (json.contains(name)) time = std::chrono::milliseconds(json[name].get<int>());
}

}  // namespace

int main(int argc, char** argv) {
  const auto text = kapitsa::read_file(argc > 1 ? argv[1] : "");
  if (!text.ok()) return std::fprintf(stderr, "%s\n", text.message().c_str()), 2;
  const Json config = Json::parse(text.value());

  std::vector<Script> scripts;
  for (const Json& script : config["scripts"]) scripts.push_back(script_of(script));
  kapitsa::test::ScriptedEngine engine(std::move(scripts));
  engine.model.context = config.value("context", engine.model.context);
  engine.max_streams = config.value("max_streams", engine.max_streams);
  engine.has_template = config.value("has_template", true);
  engine.speak(config.value("dialect", "plain"));
  engine.watch = say;

  kapitsa::app::ServeOptions options;
  options.net.port = 0;
  options.api_key = config.value("api_key", "");
  options.aliases = config.value("aliases", std::vector<std::string>{});
  options.net.limits.body = config.value("body_limit", options.net.limits.body);
  set_time(config, "idle_ms", options.net.idle);
  set_time(config, "head_ms", options.net.head);
  set_time(config, "body_stall_ms", options.net.body_stall);
  set_time(config, "write_stall_ms", options.net.write_stall);
  set_time(config, "heartbeat_ms", options.net.heartbeat);
  set_time(config, "drain_ms", options.net.drain);

  const Status status = serve(engine, options, [](int port, std::function<void()> stop) {
    say("port " + std::to_string(port));
    // Twice: nothing that still runs is waited for.
    std::thread([stop = std::move(stop)] {
      char byte;
      while (read(STDIN_FILENO, &byte, 1) > 0) {
      }
      stop();
      stop();
    }).detach();
  });
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;
  say("bye");
  // The watcher of stdin may still wait: no static destructors while it does.
  std::fflush(nullptr);
  _exit(0);
}

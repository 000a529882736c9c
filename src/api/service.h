// What every endpoint needs to know: the engine, and the names it is served under.
#pragma once

#include <string>
#include <vector>

#include "api/errors.h"
#include "engine/engine.h"

namespace kapitsa::api {

struct Service {
  engine::Engine& engine;
  // Further names that clients may use for the model; "*" stands for any name.
  std::vector<std::string> aliases;

  const engine::ModelInfo& info() const { return engine.info(); }
  bool serves(std::string_view name) const;
  // The id and the aliases, for an error.
  std::string names() const;
};

}  // namespace kapitsa::api

// How a command line, and the catalogue, say how to sample.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "base/json.h"
#include "engine/request.h"

namespace kapitsa::app {

// What was given; the rest is the model's own.
struct SamplingOptions {
  std::optional<float> temperature, top_p, min_p;
  std::optional<float> repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<int> top_k;
  std::optional<uint64_t> seed;
  bool greedy = false;

  void add_to(CLI::App& command);
  // `recommended` with what was given over it. Without --seed: a random one.
  engine::Sampling over(engine::Sampling recommended) const;
};

// The catalogue's {"temperature": 0.6, "top_k": 20, ...}; nothing where it recommends nothing.
std::optional<engine::Sampling> sampling_from_json(const Json& json);
// The reverse, for `show --json`.
Json to_json(const engine::Sampling& sampling);
// "temperature 0.6, top-p 0.95, top-k 20"; "greedy".
std::string to_text(const engine::Sampling& sampling);

}  // namespace kapitsa::app

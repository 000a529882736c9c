// What `kapitsa run` was asked for.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/globals.h"
#include "app/sampling_options.h"

namespace kapitsa::app {

struct RunOptions {
  std::string model;
  std::vector<std::string> prompt;  // words; joined by spaces
  bool has_prompt = false;
  std::string system;
  SamplingOptions sampling;
  int context = 0;  // 0: the model's own
  int max_tokens = std::numeric_limits<int>::max();
  int threads = 0;
  uint64_t memory = 0;  // bytes; 0: what the machine has
  bool raw = false;
  std::optional<bool> think;
  bool statistics = true;
  bool json = false;
};

}  // namespace kapitsa::app

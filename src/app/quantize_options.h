// What `kapitsa quantize` takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/recipe.h"

namespace kapitsa::app {

struct QuantizeOptions {
  std::string model, out, type = "Q4_K_M", pre;
  std::vector<std::string> tensors;  // PART=TYPE
  int group = 64;
  bool pure = false, dry = false, force = false;
  int threads = 0;
};

void add_quantize_options(CLI::App& command, QuantizeOptions& options);

// Errors: kInvalid, naming the option.
Result<convert::PlanOptions> plan_of(const QuantizeOptions& options);

}  // namespace kapitsa::app

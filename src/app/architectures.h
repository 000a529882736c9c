// The model families that this build can run, by the catalogue's names.
#pragma once

#include <algorithm>
#include <string_view>

#include "model/architecture.h"

namespace kapitsa::app {

inline bool runs_here(std::string_view architecture) {
  const auto known = model::architectures();
  return std::any_of(known.begin(), known.end(),
                     [&](const model::Architecture* a) { return a->name == architecture; });
}

}  // namespace kapitsa::app

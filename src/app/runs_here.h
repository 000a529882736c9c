// Whether this build can run a catalogue's model.
#pragma once

#include <algorithm>
#include <string>

#include "hub/catalogue.h"
#include "model/architecture.h"

namespace kapitsa::app {

// Why not: the family, or the storage of its weights. Empty: it runs.
inline std::string missing_for(const hub::Entry& entry, const hub::Variant& variant) {
  const auto known = model::architectures();
  if (std::none_of(known.begin(), known.end(), [&](const auto* a) { return a->name == entry.architecture; })) {
    return entry.architecture;
  }
  // Of safetensors files those with floats are read; packed integers and FP4 are not.
  const bool floats = variant.name == "bf16" || variant.name == "f16" || variant.name == "f32";
  return variant.format == "safetensors" && !floats ? variant.name + " safetensors" : "";
}

}  // namespace kapitsa::app

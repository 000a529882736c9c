// The model families that this build can run, by the catalogue's names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace kapitsa::app {

inline constexpr std::array<std::string_view, 3> kArchitectures = {"llama", "qwen2", "qwen3"};

inline bool runs_here(std::string_view architecture) {
  return std::find(kArchitectures.begin(), kArchitectures.end(), architecture) !=
         kArchitectures.end();
}

}  // namespace kapitsa::app

// Which files of a repository make up the model that was asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kapitsa::hub {

// Picks from `files` (all names in the repository):
// - `part` empty: the weights in safetensors with their configuration and tokenizer, or else the
// GGUF
//   file in the quantisation that most people want (Q4_K_M first);
// - `part` a file's name: that file, with its siblings where it is split ("-00001-of-00003");
// - `part` a quantisation ("Q8_0", any case): the GGUF file of that quantisation.
// Errors name what there is: kNotFound.
Result<std::vector<std::string>> select_files(const std::vector<std::string>& files,
                                              std::string_view part, std::string_view repo);

// True if `file` is a GGUF file with the weights of a language model (no projector, no matrix).
bool is_model_gguf(std::string_view file);

// "Q4_K_M" of "model-Q4_K_M-00001-of-00002.gguf", in upper case; empty if the name has none.
std::string quantisation_of(std::string_view file);

}  // namespace kapitsa::hub

// The keys of a GGUF that is made from a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "model/gguf_form.h"
#include "weights/checkpoint.h"

namespace kapitsa::convert {

// The form's keys, the model's name, its tokenizer, chat template and recommended sampling. `type`: the recipe's name; `pre`: see
// text::gguf_tokenizer_keys. What is missing is noted.
Result<weights::Metadata> gguf_metadata(const weights::Checkpoint& checkpoint, const model::GgufForm& form, const std::string& type,
                                        const std::string& pre, std::vector<std::string>& notes);

}  // namespace kapitsa::convert

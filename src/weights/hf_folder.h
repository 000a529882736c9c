// A Hugging Face model folder: config.json, tokenizer and template files, and safetensors, whole or
// in shards that model.safetensors.index.json lists.
#pragma once

#include <string>

#include "base/status.h"
#include "weights/checkpoint.h"

namespace kapitsa::weights {

// Whether `folder` has config.json and model.safetensors or its index.
bool is_hf_folder(const std::string& folder);

// Reads the folder into `out`. Where both are there, model.safetensors is preferred to the index;
// of shards, exactly the tensors that the index names are taken, each from the shard it names. The
// chat template is, in this order, chat_template.jinja, chat_template.json, or
// tokenizer_config.json's (the one named "default" of several). Errors name the file.
Status read_hf_folder(const std::string& folder, Checkpoint& out);

}  // namespace kapitsa::weights

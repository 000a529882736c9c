// What a GGUF's keys say of a model, read off the loaded model itself: one place for all families. Facts that the loaded
// model does not show any more (RoPE's base) are said where they are read (Loader::say).
#pragma once

#include "model/transformer.h"
#include "weights/metadata.h"

namespace kapitsa::model {

// Keys begin with "{arch}.", which stands for general.architecture.
void set_gguf_keys(const Transformer& model, weights::Metadata& metadata);

}  // namespace kapitsa::model

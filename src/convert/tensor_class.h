// What a tensor is for, read off its GGUF name: what a plan for its bits goes by.
#pragma once

#include <string_view>

#include "model/gguf_form.h"

namespace kapitsa::convert {

enum class TensorClass {
  kVector,         // norms, biases, convolutions
  kRouter,         // and what else must be exact
  kEmbedding,      // rows are read, nothing is multiplied
  kHead,           // the head, or an embedding that is the head too
  kSharedExpert,   // met by every token, with few weights
  kGate,           // a DeltaNet's a and b: a row a head
  kAttentionValue,
  kDown,           // of the MLP or the experts
  kOther,
};

// `tied`: the model has no head of its own.
TensorClass class_of(const model::GgufTensor& tensor, bool tied);

// Whether readers multiply by a factor that stands beside the tensor ("X.scale"), as NVFP4 needs one: of the matrices that
// they know it of. An embedding's rows are read without.
bool takes_factor(std::string_view name);

// The layer of "blk.7.attn_q.weight"; -1 for a tensor of none.
int layer_of(std::string_view name);

}  // namespace kapitsa::convert

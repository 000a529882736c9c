// The small tensors that recurrent mixers share, in the shape that the ops want.
#pragma once

#include "model/loader.h"

namespace kapitsa::model {

// A depthwise convolution's weight: [channels][kernel] in every container (with an axis of 1 here or there), [kernel][channels]
// for the op.
backend::WeightRef load_conv(Loader& loader, Name name, int64_t channels, int kernel);

// The decay's factor, negative: a GGUF stores it as it is, a Hugging Face file as A_log with -exp(A_log) to be taken.
backend::WeightRef load_decay(Loader& loader, const Name& name, int64_t heads);

}  // namespace kapitsa::model

// The form in which any checkpoint goes into an output: for a GGUF itself, tensor by tensor; for others what their family's
// loading code says (model/gguf_form.h).
#pragma once

#include "model/gguf_form.h"
#include "weights/checkpoint.h"

namespace kapitsa::convert {

// The metadata is all that a GGUF says beside how it is laid out. Errors: those of model::gguf_form.
Result<model::GgufForm> form_of(const weights::Checkpoint& checkpoint);

}  // namespace kapitsa::convert

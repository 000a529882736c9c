// One typed value of a GGUF header.
#pragma once

#include <string>

#include "base/status.h"
#include "weights/gguf_cursor.h"
#include "weights/metadata.h"

namespace kapitsa::weights {

// Reads the type id and the value at the cursor into `out`; `key` is for messages. Arrays of arrays
// are refused (no known key has one), as are arrays of more than 2^22 elements and strings of over
// 64 MiB.
Status read_gguf_value(GgufCursor& cursor, const std::string& key, Value& out);

}  // namespace kapitsa::weights

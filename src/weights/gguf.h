// The GGUF container, versions 2 and 3: magic, counts, typed keys, tensor entries, then the
// tensors' bytes at aligned offsets. Little-endian; strings and arrays carry 64-bit lengths.
#pragma once

#include <cstddef>
#include <span>

#include "base/file_map.h"
#include "base/status.h"
#include "weights/checkpoint.h"

namespace kapitsa::weights {

// Reads a whole GGUF file's bytes into `out`: keys to `out.metadata`, tensors with their axes
// reversed to row-major. Tensors point into `bytes`, which must outlive `out`; `file` is whose
// mapping that is, null for memory. Integers become int64 (a uint64 beyond that, a double), floats
// become double. Errors: kCorrupt where a count, length, offset, shape or type contradicts the
// file's size or another field, kUnsupported for big-endian, version 1, split files and tensor
// types that this build lacks.
Status parse_gguf(std::span<const std::byte> bytes, const FileMap* file, Checkpoint& out);

}  // namespace kapitsa::weights

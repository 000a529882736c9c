// Lays out a GGUF file, version 3.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "quant/format.h"
#include "weights/metadata.h"
#include "weights/tensor_file.h"

namespace kapitsa::weights {

struct GgufEntry {
  std::string name;
  quant::Format format = quant::Format::f32;
  std::vector<int64_t> shape;  // row-major; the file has its axes reversed
};

// Header and places. Keys stand in this order: general.*, the architecture's, tokenizer.*, the rest. Their types are those
// that readers ask for: whole numbers as u32 where they fit (else i32, u64 or i64), lists of them as i32 (else i64), other
// numbers as f32. Errors: kInvalid (a name twice or none, more than four axes, a row that is no multiple of the format's
// block).
Result<FileLayout> gguf_layout(const Metadata& metadata, std::span<const GgufEntry> tensors);

}  // namespace kapitsa::weights

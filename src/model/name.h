// A tensor's name in every container, so that a family's loading code also says what the checkpoint is called, and how it
// lies, in a GGUF (gguf_form.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kapitsa::model {

struct Name {
  std::string hf;    // in a Hugging Face or MLX checkpoint
  std::string gguf;
  // Where a GGUF's converter puts rows (of a vector: values) or columns into another order: row i of the GGUF is row
  // rows[i] of the other. Empty: the same order.
  std::vector<int32_t> rows, columns;
  // The GGUF's axes, outermost first, where they are not those that the values are asked for with.
  std::vector<int64_t> shape;

  Name with_rows(std::vector<int32_t> order) && { return rows = std::move(order), std::move(*this); }
  Name with_columns(std::vector<int32_t> order) && { return columns = std::move(order), std::move(*this); }
  Name shaped(std::vector<int64_t> axes) && { return shape = std::move(axes), std::move(*this); }
};

// What stands before a layer's names: "model.layers.3." and "blk.3."
struct Prefix {
  std::string hf, gguf;
  Name operator()(std::string_view hf_part, std::string_view gguf_part) const {
    return {hf + std::string(hf_part), gguf + std::string(gguf_part), {}, {}, {}};
  }
  // A part of the layer that only Hugging Face's names know: "mlp."
  Prefix in(std::string_view part) const { return {hf + std::string(part), gguf}; }
};

}  // namespace kapitsa::model

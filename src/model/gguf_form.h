// What a checkpoint is as a GGUF: its keys, its tensors under that container's names, and which of the checkpoint's values
// each is made of. Nothing is read but headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "weights/checkpoint.h"

namespace kapitsa::model {

// How a GGUF's values differ from the checkpoint's.
struct ValueChange {
  enum class Kind { kNone, kAdd, kMinusExp } kind = Kind::kNone;
  float amount = 0;  // of kAdd
};

struct GgufTensor {
  enum class Kind {
    kMatrix,     // products may be taken in any format
    kEmbedding,  // rows are read; where it is the head too, also products
    kExact,      // small and wanted exactly: a router
    kVector,     // norms, biases, convolutions
  };
  // Rows `row` to `row + rows` of the matrix `matrix` of a tensor, whose leading axes count matrices.
  struct Piece {
    std::string tensor;
    int64_t matrix = 0, row = 0, rows = 0;
  };

  std::string name;
  std::string mlx;             // the name that an MLX checkpoint gives it
  Kind kind = Kind::kVector;
  std::vector<int64_t> shape;  // outermost axis first
  std::vector<Piece> pieces;   // one after another
  std::vector<int32_t> rows, columns;  // name.h
  ValueChange change;
  std::vector<float> values;   // in the place of pieces: computed from the config
};

struct GgufForm {
  std::string architecture;    // general.architecture
  weights::Metadata metadata;  // the keys that begin with it
  std::vector<GgufTensor> tensors;
};

// The form of a Hugging Face or MLX checkpoint. Errors: those of Model::load; kInvalid for a GGUF, which is one already.
Result<GgufForm> gguf_form(const weights::Checkpoint& checkpoint);

}  // namespace kapitsa::model

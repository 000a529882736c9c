// The tensors of a checkpoint that begin alike: "X.weight", "X.scales", "X.biases". Libraries that quantise store a matrix as
// several; each convention reads its own and says what the matrix is (join.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "quant/planes.h"
#include "weights/safetensors.h"

namespace kapitsa::weights {

struct RawTensor {
  StoredTensor stored;
  const FileMap* file = nullptr;
};
using RawTensors = std::map<std::string, RawTensor, std::less<>>;

// A matrix, or a stack of them, that is made of parts.
struct Joined {
  quant::Planes planes;
  std::vector<int64_t> shape;
};

class Parts {
 public:
  Parts(const RawTensors& all, std::string base, const Json& config) : all_(all), base_(std::move(base)), config_(config) {}

  const std::string& base() const { return base_; }
  const Json& config() const { return config_; }
  // The tensor BASE.suffix, which then belongs to the matrix; null where there is none.
  const StoredTensor* find(std::string_view suffix);
  // The names that were found.
  const std::set<std::string>& used() const { return used_; }

  // Errors that name the tensor.
  Status corrupt(std::string_view suffix, std::string what) const;
  Status unsupported(std::string what) const;

 private:
  const RawTensors& all_;
  std::string base_;
  const Json& config_;
  std::set<std::string> used_;
};

// Each says what the parts are, nothing where they are not of its convention, or what is wrong with them.
using Convention = Result<std::optional<Joined>>(Parts& parts);
Convention join_mlx;   // join_mlx.cpp: U32 words of affine codes, MXFP4, MXFP8, NVFP4
Convention join_fp4;   // join_fp4.cpp: NVFP4 and MXFP4 of ModelOpt and compressed-tensors
Convention join_fp8;   // join_fp8.cpp: FP8 and MXFP8 of ModelOpt, compressed-tensors and the models' makers
Convention join_int;   // join_int.cpp: packed integers of compressed-tensors, and 4-bit ones in bytes

// The type of a tensor of scales; nothing where it is none.
std::optional<quant::Planes::Scale> scale_type(std::string_view dtype);
bool is_float(const StoredTensor& tensor);
// The only value of a tensor of floats; nothing where it has more.
std::optional<double> single_value(const StoredTensor& tensor);
int64_t rows_of(const StoredTensor& tensor);     // the product of all axes but the last; 0 where that is nothing
int64_t columns_of(const StoredTensor& tensor);

// Sets the planes' scales of [..., rows, groups], whose groups must be of `group` columns where that is not 0; 0 takes what
// divides. Error: their shape does not fit `shape`.
Status set_scales(Parts& parts, std::string_view suffix, const StoredTensor& scales, int64_t group, Joined& joined);

}  // namespace kapitsa::weights

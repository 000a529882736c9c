// Writes a checkpoint as a GGUF file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "convert/recipe.h"
#include "convert/tasks.h"
#include "weights/checkpoint.h"

namespace kapitsa::convert {

// The mean square of what each column of a matrix is multiplied with, by the checkpoint's tensor name: [columns], or for a
// stack of matrices [matrices][columns].
using Importance = std::map<std::string, std::vector<float>, std::less<>>;

struct OutputTensor {
  std::string name;
  std::string format;
  int64_t parameters = 0;
  uint64_t bytes = 0;
};

struct Report {
  std::vector<OutputTensor> tensors;
  uint64_t bytes = 0;               // of the file
  size_t resumed = 0;               // tensors that an earlier run had written
  size_t requantised = 0;           // that had fewer than 8 bits a weight before
  std::vector<std::string> notes;   // what a user should know
};

struct GgufOptions {
  PlanOptions plan;
  std::string pre;                  // the word for the pre-tokenizer; empty: found
  const Importance* importance = nullptr;
  std::string importance_name;      // what it was made from: part of what a resumed run must agree on
  bool dry = false;                 // only the report
};

// Memory: a block of rows a thread. Interrupted, a run leaves PATH.partial, and the same call goes on with it. Errors:
// kInvalid (`path` is a file of the input), those of form_of, of the file system, kCancelled.
Result<Report> write_gguf(const weights::Checkpoint& checkpoint, const std::string& path, const GgufOptions& options, const Work& work);

}  // namespace kapitsa::convert

// Carries out the writing of tensors, blocks of rows on several threads.
#pragma once

#include <functional>
#include <span>

#include "base/status.h"

namespace kapitsa::convert {

// One tensor of the output.
struct Task {
  int64_t matrices = 1, rows = 1, columns = 1;
  // Reads, encodes and writes some rows of a matrix; any thread.
  std::function<Status(int64_t matrix, int64_t row, int64_t count)> run;
  // Called once all rows are written.
  std::function<Status()> whole;
};

struct Work {
  int threads = 0;                             // 0: one a physical core
  std::function<void(double share)> progress;  // on the calling thread; may be empty
  std::function<bool()> stopped;               // likewise; true ends the work early
};

// Errors: the first that a task reports; kCancelled.
Status run_tasks(std::span<const Task> tasks, const Work& work);

}  // namespace kapitsa::convert

#include "convert/tasks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/thread_team.h"

namespace kapitsa::convert {
namespace {

constexpr int64_t kBlockValues = int64_t{1} << 18;  // values that a thread holds decoded at a time

struct Blocks {
  int64_t rows;   // in a block
  int64_t each;   // of a matrix
  int64_t first;  // of the task, counted over all tasks
};

}  // namespace

Status run_tasks(std::span<const Task> tasks, const Work& work) {
  std::vector<Blocks> blocks;
  std::vector<std::atomic<int64_t>> left(tasks.size());
  std::vector<int64_t> values;  // before each task
  int64_t total = 0, all_values = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task& t = tasks[i];
    const int64_t rows = std::max<int64_t>(1, kBlockValues / std::max<int64_t>(1, t.columns)), each = (t.rows + rows - 1) / rows;
    blocks.push_back({rows, each, total});
    left[i] = each * t.matrices;
    total += each * t.matrices;
    all_values += t.matrices * t.rows * t.columns;
  }
  ThreadTeam team(work.threads);
  std::atomic<int64_t> next{0}, done_values{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Status first;
  const auto fail = [&](Status status) {
    const std::lock_guard lock(mutex);
    if (first.ok()) first = std::move(status);
    stop = true;
  };
  team.run([&](int member) {
    for (int64_t unit; !stop && (unit = next.fetch_add(1)) < total;) {
      const auto at = static_cast<size_t>(std::upper_bound(blocks.begin(), blocks.end(), unit, [](int64_t u, const Blocks& b) { return u < b.first; }) - blocks.begin() - 1);
      const Task& task = tasks[at];
      const Blocks& b = blocks[at];
      const int64_t matrix = (unit - b.first) / b.each, row = (unit - b.first) % b.each * b.rows, count = std::min(b.rows, task.rows - row);
      if (Status status = task.run(matrix, row, count); !status.ok()) return fail(std::move(status));
      if (left[at].fetch_sub(1) == 1 && task.whole) {
        if (Status status = task.whole(); !status.ok()) return fail(std::move(status));
      }
      done_values += count * task.columns;
      if (member != 0) continue;
      if (work.progress) work.progress(static_cast<double>(done_values) / static_cast<double>(all_values));
      if (work.stopped && work.stopped()) return fail(Status(Code::kCancelled, "stopped"));
    }
  });
  return first;
}

}  // namespace kapitsa::convert

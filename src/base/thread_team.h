// A fixed team of threads that run one function together, with barriers inside it: how a CPU step is carried out.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace kapitsa {

// Between runs the members spin for some hundred microseconds (the next token comes soon), then sleep: an idle engine
// takes no processor. The caller of run() is member 0.
class ThreadTeam {
 public:
  // threads >= 1; 0 stands for default_threads().
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  // Calls body(member) on every member and returns when all are done. Not reentrant; one caller at a time.
  void run(const std::function<void(int member)>& body);

  // Inside run(): returns when every member has called it. What was written before is seen after.
  void barrier();

  // Physical cores that this process may run on, at least 1.
  static int default_threads();

 private:
  void member_loop(int member);

  int size_;
  const std::function<void(int)>* body_ = nullptr;
  alignas(64) std::atomic<uint32_t> epoch_{0};  
  alignas(64) std::atomic<int> arrived_{0};  // at the barrier
  alignas(64) std::atomic<uint32_t> generation_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace kapitsa

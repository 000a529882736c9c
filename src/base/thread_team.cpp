#include "base/thread_team.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

namespace kapitsa {
namespace {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Long enough for the next op or token, short enough not to fight another process for the core.
constexpr int kSpins = 4000;

// Returns once `value` is no longer `old`: spins first, then sleeps.
// The counters may wrap: only whether they differ counts.
void wait_while(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) : size_(threads > 0 ? threads : default_threads()) {
  threads_.reserve(static_cast<size_t>(size_ - 1));
  try {
    for (int m = 1; m < size_; ++m) threads_.emplace_back([this, m] { member_loop(m); });
  } catch (const std::system_error&) {
    // The system gives no more: on with those that there are. Nobody waits at a barrier yet.
    size_ = static_cast<int>(threads_.size()) + 1;
  }
}

ThreadTeam::~ThreadTeam() {
  stopping_.store(true);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (auto& t : threads_) t.join();
}

void ThreadTeam::run(const std::function<void(int)>& body) {
  if (size_ == 1) return body(0);
  body_ = &body;
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  body(0);
  barrier();
}

void ThreadTeam::barrier() {
  if (size_ == 1) return;
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  wait_while(generation_, generation);
}

void ThreadTeam::member_loop(int member) {
  uint32_t seen = 0;
  for (;;) {
    wait_while(epoch_, seen);
    ++seen;
    if (stopping_.load()) return;
    (*body_)(member);
    barrier();
  }
}

int ThreadTeam::default_threads() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    // Two threads of one core share its vector units: count each core once.
    std::set<std::pair<int, int>> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      int package = 0, core = cpu;
      std::ifstream(folder + "physical_package_id") >> package;
      if (std::ifstream in(folder + "core_id"); !(in >> core)) core = cpu;
      cores.emplace(package, core);
    }
    if (!cores.empty()) return static_cast<int>(cores.size());
  }
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace kapitsa
